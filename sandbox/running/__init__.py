"""Processes of servers: started, found, waited for, ended."""

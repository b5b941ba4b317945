"""Texts of views: the tables that they name, and the same text with other names."""

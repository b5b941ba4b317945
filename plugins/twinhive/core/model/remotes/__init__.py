"""What stands for databases and tables elsewhere."""

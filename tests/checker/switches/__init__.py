"""Random histories of switches between two clusters in memory, beside people who have rights of their own there."""

"""Sets of partitions that are done: their names, what is kept of a mark, how long (seed 003)."""

"""Writing many partitions of a table in one job: few files, shown when all is written (seed 003)."""

"""On which cluster a query runs, where one metastore has several (seed 000)."""

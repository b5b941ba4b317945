"""The store of sets that are done: a table `twinhive_sets` in each database (docs/sets.md)."""

"""Sets on a replica: shown when what they promise is there, held until then (docs/sets.md)."""

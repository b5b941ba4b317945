"""Read EXPORT TABLE and IMPORT TABLE (seed 003); the grammar for people is in `docs/export.md`."""

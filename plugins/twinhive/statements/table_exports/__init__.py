"""EXPORT and IMPORT of a table: a directory with its files and its description, as Hive reads and writes it."""

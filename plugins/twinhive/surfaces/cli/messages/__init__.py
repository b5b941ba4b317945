"""The commands about messages: `publish`, `listen`, `topic`."""

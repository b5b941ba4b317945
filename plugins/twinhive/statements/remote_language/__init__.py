"""Read the statements about remotes (seed 004); the grammar for people is in `docs/remotes.md`."""

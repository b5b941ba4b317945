"""The ports of single clusters."""

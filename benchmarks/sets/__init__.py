"""Sets and messages, measured: how soon they are told and shown, how many, and what a dead broker costs others."""

"""The command `twinhive sets`."""

"""Name the two users of the message broker, and the variables that its process is told by."""

PUBLISHER, READER = "publisher", "reader"
PASSWORDS = "TWINHIVE_BROKER_PASSWORDS"
"""The passwords of the two, separated by a blank."""
JARS = "TWINHIVE_BROKER_JARS"
"""The jars, separated by colons."""

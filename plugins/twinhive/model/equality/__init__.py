"""What both clusters must have equal, and how that is proved."""

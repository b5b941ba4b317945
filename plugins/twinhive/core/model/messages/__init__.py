"""Messages about partitions and sets: what they say, on which topic, up to which event they were sent (seed 003)."""

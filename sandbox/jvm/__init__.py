"""Java, the pinned jars, and how servers on it are started."""

"""Show the main job end to end on a real database."""

"""Be the users of a source, who do random things at the same time."""

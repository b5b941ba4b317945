"""Check that a replica only ever shows states that its source has had, and never goes back."""

"""Say the way out that several errors share, in the same words."""


def resync(policy: str, table: str) -> str:
    """Return how one table is brought over anew. The wish alone changes nothing: a window has to be cut for it."""
    return f"twinhive resync {policy} {table}; then clear the task window with all tasks after it"

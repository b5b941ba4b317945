"""What a call is answered with when it cannot be: its caller is a client of the metastore, and gets one line."""


class RefusedCall(Exception):
    """A call that is not answered; its text says what, what was found, and what is expected."""

    def __init__(self, what: str, *, found: object = None, expected: str | None = None) -> None:
        said = [what]
        if found is not None:
            said.append(f"found: {found}")
        if expected is not None:
            said.append(f"expected: {expected}")
        super().__init__("; ".join(said))


class NothingFound(RefusedCall):
    """A call about an object that is not there."""

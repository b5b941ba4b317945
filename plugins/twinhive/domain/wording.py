"""Hold a text in two wordings: for those who have a policy's DAGs, and for those who say REPL statements."""


class Wording(str):
    """A text as a policy's tasks say it, which it is as a string; `for_statements` is what statements say instead.

    `+` keeps both wordings; an f-string, `join` and the like have the first one alone.
    """

    for_statements: str

    def __new__(cls, for_tasks: str, for_statements: str) -> "Wording":
        """Return the text that is said in the one way or the other."""
        wording = super().__new__(cls, for_tasks)
        wording.for_statements = for_statements
        return wording

    @classmethod
    def of(cls, said: object) -> "Wording":
        """Return anything as a text of two wordings, which mostly are the same."""
        return said if isinstance(said, cls) else cls(f"{said}", f"{said}")

    def __getnewargs__(self) -> tuple[str, str]:  # type: ignore[override]
        """Return what a copy of it is made from."""
        return str(self), self.for_statements

    def __add__(self, more: str) -> "Wording":
        return Wording(str(self) + str(more), self.for_statements + said_for_statements(more))

    def __radd__(self, before: str) -> "Wording":
        return Wording(str(before) + str(self), said_for_statements(before) + self.for_statements)


def said_for_statements(text: str) -> str:
    """Return a text as statements say it: most texts have one wording only."""
    return text.for_statements if isinstance(text, Wording) else text

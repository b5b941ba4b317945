"""Hold a text in two wordings: for those who have a policy's DAGs, and for those who say REPL statements."""

import shlex
from collections.abc import Sequence


class Wording(str):
    """A text as a policy's tasks say it, which it is as a string; `for_statements` is what statements say instead.

    `commands` are those in the text that can be copied and run as they stand: nobody looks for them in the prose. `+`
    keeps wordings and commands; an f-string, `join` and the like have the first wording alone.
    """

    for_statements: str
    commands: tuple[str, ...]

    def __new__(cls, for_tasks: str, for_statements: str, commands: Sequence[str] = ()) -> "Wording":
        """Return the text that is said in the one way or the other."""
        wording = super().__new__(cls, for_tasks)
        wording.for_statements = for_statements
        wording.commands = tuple(commands)
        return wording

    @classmethod
    def of_command(cls, words: Sequence[str], for_statements: str | None = None) -> "Wording":
        """Return a command with its words quoted for a shell: names of tables are whatever their owners like.

        One with a control character in it is shown, and is not offered to be copied.
        """
        line = shlex.join(words)
        return cls(line, line if for_statements is None else for_statements, [line] if line.isprintable() else [])

    @classmethod
    def of(cls, said: object) -> "Wording":
        """Return anything as a text of two wordings, which mostly are the same."""
        return said if isinstance(said, cls) else cls(f"{said}", f"{said}")

    def __getnewargs__(self) -> tuple[str, str, tuple[str, ...]]:  # type: ignore[override]
        """Return what a copy of it is made from."""
        return str(self), self.for_statements, self.commands

    def __add__(self, more: str) -> "Wording":
        return _joined(self, Wording.of(more))

    def __radd__(self, before: str) -> "Wording":
        return _joined(Wording.of(before), self)


def _joined(one: Wording, other: Wording) -> Wording:
    return Wording(str(one) + str(other), one.for_statements + other.for_statements, (*one.commands, *other.commands))


def said_for_statements(text: str) -> str:
    """Return a text as statements say it: most texts have one wording only."""
    return text.for_statements if isinstance(text, Wording) else text

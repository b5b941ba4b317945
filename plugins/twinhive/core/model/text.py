"""Texts with parts that are values: what to do next, and settings; `render` says them in the words of a reader.

A policy's operators have DAGs, tasks and a policy file; those who run REPL statements have statements and WITH. A text
becomes a string by `render` alone: the type checker refuses one in an f-string (tests/support/mypy_texts.py).
"""

import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import assert_never

_RUN_AGAIN = "run the statement again"
_COMMAND_AGAIN = "run the command again"
_SOME_POLICY = "<policy>"
_BEGIN_ANEW = "drop the replica, then dump and load the whole database"
_TWO_DUMPS = "two more dumps, one that leaves the table out (REPLACE) and one that takes it in again"


class Reader(Enum):
    """Whom a text is for."""

    POLICIES = "policies"
    TERMINAL = "terminal"
    """Who has started a phase there, without Airflow: there is no task to clear."""
    COMMANDS = "commands"
    """Who has run another command there: there are tasks in Airflow, and it is the command that failed."""
    STATEMENTS = "statements"


class Phrase:
    """A part of a text that is no string yet; `+` makes a text of it, from either side."""

    def __add__(self, more: "Text") -> "Joined":
        return Joined(_phrase(self), more)

    def __radd__(self, before: str) -> "Joined":
        return Joined(before, _phrase(self))

    def __str__(self) -> str:
        return render(_phrase(self))


@dataclass(frozen=True)
class Clear(Phrase):
    """Do failed work of a policy again: `Clear("the task apply")`. Of what has raised the error itself: `Again`."""

    tasks: str


@dataclass(frozen=True)
class Again(Clear):
    """Do again what has met the error, a task or a command."""

    tasks: str = "this task"


@dataclass(frozen=True)
class Retry(Phrase):
    """Nothing has to be done: the work is repeated."""


@dataclass(frozen=True)
class StartDag(Phrase):
    """Build the replica, or bring its dump to one event; `policy` is None for a bootstrap of what is there already."""

    phase: str
    policy: str | None = None


@dataclass(frozen=True)
class ResyncTable(Phrase):
    """Bring one table over anew, None for one that is not known, where the next window is planned anyway."""

    policy: str
    table: str | None


@dataclass(frozen=True)
class ThePolicy(Phrase):
    """The name of the policy that an error is met with: who raises it need not know it."""


@dataclass(frozen=True)
class Exclude(Phrase):
    """Leave tables out."""

    tables: str


@dataclass(frozen=True)
class Setting(Phrase):
    """A setting by its name in a policy file, and by its key of WITH."""

    name: str
    key: str


@dataclass(frozen=True)
class Command(Phrase):
    """A command that can be run; one with a control character in it is shown, and is not offered to be copied."""

    words: tuple[str | ThePolicy, ...]

    @property
    def line(self) -> str:
        """The command with its words quoted for a shell: names of tables are whatever their owners like."""
        return " ".join(shlex.quote(word) if isinstance(word, str) else _SOME_POLICY for word in self.words)

    @property
    def can_be_run(self) -> bool:
        """True for one that can be copied: all of it is known, and it holds no control character."""
        return self.line.isprintable() and ThePolicy() not in self.words

    def of_policy(self, policy: str) -> "Command":
        """Return it with the name of the policy filled in."""
        return Command(tuple(policy if policy and isinstance(word, ThePolicy) else word for word in self.words))


@dataclass(frozen=True)
class Either(Phrase):
    """A text that is one thing for a policy's operators, and another for those who run statements."""

    for_policies: "Text"
    for_statements: "Text"


@dataclass(frozen=True)
class Joined(Phrase):
    """Two texts, one after the other."""

    first: "Text"
    then: "Text"


NextStep = Clear | Retry | StartDag | ResyncTable | ThePolicy | Exclude | Setting | Command | Either | Joined
Text = str | NextStep


def render(text: Text, reader: Reader = Reader.POLICIES, policy: str = "") -> str:
    """Return a text in the words of those who read it; `policy` is whom it is about, '' where nobody knows."""
    if isinstance(text, str):
        return text
    return "".join(part.line if isinstance(part, Command) else part for part in _parts(text, reader, policy))


def commands_of(text: Text, reader: Reader = Reader.POLICIES, policy: str = "") -> tuple[str, ...]:
    """Return the commands in a text that can be copied and run as they stand: nobody looks for them in the prose."""
    commands = (part for part in _parts(text, reader, policy) if isinstance(part, Command))
    return tuple(command.line for command in commands if command.can_be_run)


def text_of(value: object) -> Text:
    """Return anything as a text."""
    return _phrase(value) if isinstance(value, Phrase) else f"{value}"


def _parts(text: Text, reader: Reader, policy: str) -> Iterator[str | Command]:
    match text:
        case str():
            yield text
        case Command():
            yield text.of_policy(policy)
        case ThePolicy():
            yield policy or _SOME_POLICY
        case Joined(first, then):
            yield from _parts(first, reader, policy)
            yield from _parts(then, reader, policy)
        case _:
            yield from _parts(_WORDED[reader](text), reader, policy)


_Worded = Clear | Retry | StartDag | ResyncTable | Exclude | Setting | Either


def _for_policies(step: _Worded) -> Text:
    match step:
        case Clear(tasks):
            return f"clear {tasks}"
        case Retry():
            return "the task retries by itself"
        case StartDag(phase, policy):
            return (
                f"start the DAG {policy}.{phase}"
                if policy
                else "start the DAG " + ThePolicy() + f".{phase} with again=true"
            )
        case ResyncTable(policy, table):
            return _resync(policy, table)
        case Exclude(tables):
            return f"exclude {tables} in the policy file"
        case Setting(name, _):
            return name
        case Either(text, _):
            return text
        case _:
            assert_never(step)


def _resync(policy: str, table: str | None) -> Text:
    if table is None:
        return f"twinhive resync {policy} <table>"
    # What begins with a dash would be an option.
    return Command(("twinhive", "resync", *(["--"] if table.startswith("-") else []), policy, table))


def _for_commands(step: _Worded) -> Text:
    match step:
        case Again():
            return _COMMAND_AGAIN
        case _:
            return _for_policies(step)


def _for_terminal(step: _Worded) -> Text:
    match step:
        case Clear() | Retry():
            return _COMMAND_AGAIN
        case StartDag(phase, policy):
            return Command(("twinhive", "run", policy or ThePolicy(), phase, *(() if policy else ("--again",))))
        case ResyncTable() | Exclude() | Setting() | Either():
            return _for_policies(step)
        case _:
            assert_never(step)


def _for_statements(step: _Worded) -> Text:
    match step:
        case Clear() | Retry():
            return _RUN_AGAIN
        case StartDag():
            return _BEGIN_ANEW
        case ResyncTable():
            return _TWO_DUMPS
        case Exclude(tables):
            return f"leave {tables} out of the dump"
        case Setting(_, key):
            return key
        case Either(_, text):
            return text
        case _:
            assert_never(step)


_WORDED: Mapping[Reader, Callable[[_Worded], Text]] = {
    Reader.POLICIES: _for_policies,
    Reader.TERMINAL: _for_terminal,
    Reader.COMMANDS: _for_commands,
    Reader.STATEMENTS: _for_statements,
}


def _phrase(phrase: Phrase) -> NextStep:
    assert isinstance(phrase, NextStep)
    return phrase

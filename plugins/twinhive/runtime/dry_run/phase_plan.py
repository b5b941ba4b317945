"""What a run of a phase would do: values for people and for scripts."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from twinhive.core.model.errors import TryAgain, TwinhiveError
from twinhive.core.model.human_readable import readable

_NAMED = 10


@dataclass(frozen=True)
class PlanSection:
    """One kind of change: `copy` 12 `files`, the names of the first, and how much it is.

    count         how many objects, of which `names` are the first; objects need not have names
    files, bytes  what their data comes to, 0 where nothing is moved or removed, or nobody knows yet
    """

    verb: str
    what: str
    count: int
    names: tuple[str, ...] = ()
    files: int = 0
    bytes: int = 0

    @classmethod
    def of(cls, verb: str, what: str, names: Iterable[str], *, files: int = 0, length: int = 0) -> "PlanSection":
        """Count the names, and keep the first."""
        every = iter(names)
        first = tuple(islice(every, _NAMED))
        return cls(verb, what, len(first) + sum(1 for _ in every), first, files, length)

    def __str__(self) -> str:
        size = f" ({self.files:,} files, {readable(self.bytes)})" if self.files or self.bytes else ""
        names = f": {', '.join(self._listed())}" if self.names else ""
        return f"{self.short}{size}{names}"

    @property
    def short(self) -> str:
        """What is done, and to how many."""
        return f"{self.verb} {self.what}: {self.count:,}"

    def _listed(self) -> Iterator[str]:
        yield from self.names
        if self.count > len(self.names):
            yield f"and {self.count - len(self.names):,} more"


@dataclass(frozen=True)
class PhasePlan:
    """What a run of `phase` would do now.

    nothing   why it would do nothing, None when it would do something
    tables, partitions, files, bytes, events   the totals of what it would bring over
    sections  what would be copied, created, altered, dropped, left out; those that come to nothing are left out
    refusals  the errors that it would stop with
    reports   what its steps have to say besides
    """

    policy: str
    phase: str
    nothing: str | None = None
    tables: int = 0
    partitions: int = 0
    files: int = 0
    bytes: int = 0
    events: int = 0
    sections: tuple[PlanSection, ...] = ()
    refusals: tuple[TwinhiveError, ...] = ()
    reports: tuple[str, ...] = ()

    @property
    def refused(self) -> bool:
        """True when a real run would stop with an error."""
        return bool(self.refusals)

    @property
    def verdict(self) -> str:
        """The plan in one line, which begins with `a real run would`."""
        if self.refusals:
            more = f" (and {len(self.refusals) - 1} more problems)" if len(self.refusals) > 1 else ""
            first = self.refusals[0].words.what.partition("\n")[0]
            return f"a real run would stop: {first}{more}"
        if self.nothing:
            return f"a real run would do nothing: {self.nothing}"
        copied = f"copy {self.files:,} files with {readable(self.bytes)}" if self.files else "copy nothing"
        changes = [section.short for section in self.sections if not section.verb.startswith("copy")]
        return "; ".join([f"a real run would {copied}", *changes])

    def lines(self) -> list[str]:
        """Return the plan for people; the last line is the verdict."""
        lines = [f"plan of {self.policy}.{self.phase}; nothing has been changed"]
        lines += [f"  {section}" for section in self.sections]
        lines += [f"  a real run says: {line}" for line in self.reports]
        for number, refusal in enumerate(self.refusals, start=1):
            first, *others = str(refusal).splitlines()
            lines += [f"  problem {number}: {first}", *(f"  {line}" for line in others)]
        return [*lines, self.verdict]

    def as_json(self) -> dict[str, Any]:
        """Return the plan for scripts, as plain values."""
        plain = {name: value for name, value in vars(self).items() if name not in ("sections", "refusals", "reports")}
        return {
            **plain,
            "refused": self.refused,
            "verdict": self.verdict,
            "sections": [{**vars(section), "names": list(section.names)} for section in self.sections],
            "refusals": [_plain(refusal) for refusal in self.refusals],
            "reports": list(self.reports),
        }


def _plain(error: TwinhiveError) -> dict[str, Any]:
    return {
        "kind": type(error).__name__,
        "act_now": not isinstance(error, TryAgain),
        **vars(error.words),
        "commands": list(error.commands),
    }

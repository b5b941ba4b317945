"""What a verification came to: for people, for the page, and for whoever decides what follows."""

import gzip
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from twinhive.core.model.errors import Missing
from twinhive.core.model.files import FileStatus, base_name, join
from twinhive.core.model.next_steps import command
from twinhive.core.model.policy import Policy
from twinhive.core.model.text import Command
from twinhive.core.ports import FileReader, FileWriter
from twinhive.replication.comparison.leaf_records import OWN_LEAF
from twinhive.replication.verify.leaf_differences import LeafDifference
from twinhive.replication.verify.ledger_files import verify_directory

MOST_NAMED = 1_000
_KEPT = 7
_NAMED = 20
_MOST_TABLES = 10
_SUMMARY, _DIFFERENCES = "summary.json", "differences.jsonl.gz"


@dataclass(frozen=True)
class Verified:
    """What can be said of a replica as of one event of its source.

    event            all that was judged is as the source had it at this event, but for the findings
    leaves, judged   tables, views, partitions, functions: how many there are, and of how many something was said
    with_files       of these have files, and of `with_checksums` all checksums were compared since they last changed
    by_bytes         have files whose bytes were read, as checksums of other types say nothing of each other
    read             leaves that were looked at, on both sides together: the others are as they were remembered
    left_out         what the policy does not replicate, by name, with the reason
    not_judged       what nothing is said of, by name, with the reason: `unjudged` in number
    hot              what never stood still, by name, with the event at which it was judged
    suspects         `suspected` leaves that differ, and are looked at again: what brings them may be under way
    findings         `found` leaves that differ, were seen so twice, and no event explains it

    beside_tables    some of the findings are of the database or of its functions, which no repair of tables mends

    Of those that there may be very many of, the first `MOST_NAMED` are named; the file of differences has all.
    since            when the first of these differences was first seen, in seconds since 1970; None without any
    look_again_at    when the suspects can be judged, in seconds since 1970
    """

    event: int = 0
    leaves: int = 0
    judged: int = 0
    with_files: int = 0
    with_checksums: int = 0
    by_bytes: int = 0
    read: int = 0
    digest: str = ""
    left_out: Mapping[str, str] = field(default_factory=dict)
    not_judged: Mapping[str, str] = field(default_factory=dict)
    unjudged: int = 0
    hot: Mapping[str, int] = field(default_factory=dict)
    suspects: tuple[str, ...] = ()
    suspected: int = 0
    findings: tuple[str, ...] = ()
    found: int = 0
    tables_with_findings: tuple[str, ...] = ()
    beside_tables: bool = False
    since: float | None = None
    look_again_at: float | None = None
    already: str | None = None

    @property
    def is_clean(self) -> bool:
        """True when all that was judged is equal."""
        return self.already is None and not (self.found or self.suspected)

    @property
    def is_equal(self) -> bool:
        """True when all that is replicated was judged and is equal."""
        return self.is_clean and not self.unjudged

    def way_to_mend(self, policy: str) -> Command:
        """Return the command that brings over what differs: of few tables it names them, of many none."""
        if self.beside_tables:
            return command("twinhive", "resync", policy, "--all")
        few = self.tables_with_findings if len(self.tables_with_findings) <= _MOST_TABLES else ()
        return command("twinhive", "repair", policy, *few)

    def lines(self) -> list[str]:
        """Return what people are told."""
        if self.already is not None:
            return [self.already]
        lines = [self.headline, self.coverage]
        lines += [f"not judged: {name}: {why}" for name, why in list(self.not_judged.items())[:_NAMED]]
        lines += [f"judged at event {event}, as it never stood still: {name}" for name, event in _first(self.hot)]
        lines += [f"differs, to be looked at again: {one}" for one in self.suspects[:_NAMED]]
        return lines + [f"FINDING: {one}" for one in self.findings[:_NAMED]]

    @property
    def headline(self) -> str:
        """Return the sentence that says how it stands."""
        if self.found:
            return f"NOT EQUAL at event {self.event}: {_count(self.found, 'finding')}"
        if self.suspected:
            return f"{_count(self.suspected, 'difference')} at event {self.event} to be looked at again"
        return f"equal at event {self.event}" + (f", but for {self.unjudged} not judged" * bool(self.unjudged))

    @property
    def coverage(self) -> str:
        """Return of how much something is said."""
        sums = f"checksums of {_share(self.with_checksums, self.with_files)} of what has files"
        unlike = f"; of {self.by_bytes} bytes were read, as their checksums are of other types"
        return (
            f"names and lengths of {_share(self.judged, self.leaves)} of {self.leaves} leaves, {sums}"
            + unlike * bool(self.by_bytes)
            + f"; {self.read} read"
        )


def tell_nobody(found: Verified) -> None:
    """Tell nobody of what was found."""


def _first(some: Mapping[str, int]) -> list[tuple[str, int]]:
    return list(some.items())[:_NAMED]


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'s' * (number != 1)}"


def _share(part: int, whole: int) -> str:
    return f"{100 * part // whole if whole else 100} %"


def write_outcome(
    files: FileWriter, policy: Policy, found: Verified, differences: Iterable[tuple[str, LeafDifference]]
) -> None:
    """Write what was found, by the event that it is said of, and forget what was found long ago."""
    runs = join(verify_directory(policy), "runs")
    directory = join(runs, f"{found.event:012d}")
    lines = (json.dumps(_line(standing, one), ensure_ascii=False) for standing, one in differences)
    packed = gzip.compress("".join(f"{line}\n" for line in lines).encode("utf-8", "surrogatepass"), mtime=0)
    files.write(join(directory, _DIFFERENCES), packed)
    summary = json.dumps(asdict(found), indent=1, ensure_ascii=False).encode("utf-8", "surrogatepass")
    files.write(join(directory, _SUMMARY), summary)
    files.write(join(verify_directory(policy), "last.json"), summary)
    ((_, children),) = files.list_directories([runs])

    def age(one: FileStatus) -> tuple[bool, int, str]:
        # The log of a restored metastore begins with lower numbers again: its runs are no old ones.
        return one.path == directory, one.modified_ms, base_name(one.path)

    for child in [one.path for one in sorted(children or (), key=age)[:-_KEPT]]:
        for name in (_SUMMARY, _DIFFERENCES):
            files.delete_file(join(child, name))
        files.delete_file(child)


def last_outcome(files: FileReader, policy: Policy) -> Verified | None:
    """Return what the last verification came to, None before the first one."""
    try:
        said: dict[str, Any] = json.loads(files.read(join(verify_directory(policy), "last.json")))
        lists = {key: tuple(value) for key, value in said.items() if isinstance(value, list)}
        return Verified(**{**said, **lists})
    except (Missing, ValueError, TypeError):
        return None


def _line(standing: str, one: LeafDifference) -> dict[str, Any]:
    leaf = {} if one.leaf == OWN_LEAF else {"leaf": one.leaf}
    values = {name: {"source": here, "replica": there} for name, (here, there) in one.values.items()}
    return {"standing": standing, "table": one.table, **leaf, "kind": one.kind.value, "values": values}

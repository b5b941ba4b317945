"""Describe a dump as a value and as `dump.json`."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from twinhive import __version__
from twinhive.core.model.batches import Batch, Slice
from twinhive.core.model.changes.events import Position
from twinhive.core.model.constraints import TablePair
from twinhive.core.model.errors import ActNow
from twinhive.core.model.names import TableName
from twinhive.core.model.next_steps import BOOTSTRAP_AGAIN
from twinhive.core.model.objects import Database, Function
from twinhive.core.model.policy import EVERY_EVENT
from twinhive.core.model.text import Clear, Either
from twinhive.replication.dump.dump_layout import DumpKind
from twinhive.replication.dump.json_files import as_json

FORMAT_VERSION = 3
_COMPONENT = re.compile(r"[\w-]+", re.ASCII)


class UnreadableDump(ActNow):
    """What describes a dump is there, and is not what this version reads: only a new dump helps."""


@dataclass(frozen=True)
class LeftOutObject:
    """An object in the policy's scope that is not replicated, and why.

    `frozen` is a table's name that the load freezes on the replica: it comes by a resync, when it can.
    """

    name: str
    reason: str
    frozen: str = ""


@dataclass(frozen=True)
class BaseContent:
    """What only a dump that is loaded has: `bootstrap` and `consolidate`.

    `round` is how often it was brought to another event.
    """

    views: int = 0
    functions: tuple[Function, ...] = ()
    foreign_keys: tuple[TablePair, ...] = ()
    round: int = 0


@dataclass(frozen=True)
class WindowContent:
    """What only a dump of events has.

    cascades   the changes of columns that the source's partitions followed
    snapshots  the tables that are resynced at its end
    everything the request for all that the policy selects, '' for none: at its end the database and its functions
               (`functions`) are made equal too
    """

    cascades: tuple[int, ...] = ()
    snapshots: tuple[str, ...] = ()
    consistency: str = EVERY_EVENT
    everything: str = ""
    functions: tuple[Function, ...] = ()


@dataclass(frozen=True)
class StatementSaid:
    """What a statement says of its dump; of a policy's own nothing is said.

    scope          the policy as the statement says it
    replaces       the one before it, '' for the same
    metadata_only  it is loaded without any files
    only_new       of the tables that come whole the one before selects none
    """

    scope: str = ""
    replaces: str = ""
    metadata_only: bool = False
    only_new: bool = False


@dataclass(frozen=True)
class DumpManifest:
    """What a dump is of: policy text, source log, events, database, batches, and what its kind has besides.

    bootstrap    objects read after `begin`; what they say of later events is not certain
    consolidate  the source as it was at `end`
    incremental  the events after `begin`, up to and with `end`

    `token` tells two dumps of the same events apart. `batch_weight` is what a batch was to weigh at most when the
    tables were cut, 0 where nobody has said so.
    """

    kind: DumpKind
    token: str
    policy: str
    fingerprint: str
    log_id: str
    begin: Position
    end: Position
    database: Database
    batches: tuple[Batch, ...]
    content: BaseContent | WindowContent
    left_out: tuple[LeftOutObject, ...] = ()
    events: int = 0
    batch_weight: int = 0
    statement: StatementSaid = StatementSaid()
    version: str = __version__

    @property
    def base(self) -> BaseContent:
        """What a dump that is loaded has; asked of no other."""
        assert isinstance(self.content, BaseContent), f"{self.kind} is not loaded as a whole"
        return self.content

    @property
    def window(self) -> WindowContent:
        """What a dump of events has; asked of no other."""
        assert isinstance(self.content, WindowContent), f"{self.kind} is no window"
        return self.content

    def to_json(self) -> bytes:
        """Write the manifest as readable JSON: one flat object, which has the keys of all kinds."""
        fields = {name: value for name, value in asdict(self).items() if name not in ("content", "statement")}
        parts = (BaseContent(), WindowContent(), self.content, self.statement)
        flat = {name: value for part in parts for name, value in asdict(part).items()}
        database = {**fields["database"], "parameters": dict(self.database.parameters)}
        written = {"format": FORMAT_VERSION, **fields, **flat, "database": database}
        return as_json(written, _plain)

    @classmethod
    def from_json(cls, content: bytes, where: str) -> "DumpManifest":
        """Read a manifest; raises UnreadableDump for what this version does not know."""
        try:
            fields = json.loads(content)
            if fields["format"] != FORMAT_VERSION:
                raise UnreadableDump(
                    f"the dump {where} has a format that this version does not read",
                    found=f"format {fields['format']}",
                    expected=f"format {FORMAT_VERSION}",
                    next_step=Either("bootstrap again: " + BOOTSTRAP_AGAIN, "dump again with this version"),
                )
            kind = DumpKind(fields["kind"])
            return cls(
                kind=kind,
                token=_component(fields["token"]),
                policy=fields["policy"],
                fingerprint=fields["fingerprint"],
                log_id=fields["log_id"],
                begin=Position(**fields["begin"]),
                end=Position(**fields["end"]),
                database=Database(**fields["database"]),
                batches=tuple(_batch(batch) for batch in fields["batches"]),
                content=_CONTENTS[kind](fields),
                left_out=tuple(LeftOutObject(**entry) for entry in fields["left_out"]),
                events=fields["events"],
                batch_weight=fields["batch_weight"],
                statement=_said(fields),
                version=fields["version"],
            )
        except (ValueError, KeyError, TypeError) as error:
            raise UnreadableDump(
                f"the description of the dump {where} cannot be read",
                found=f"{type(error).__name__}: {error}",
                expected="a description as this version writes it",
                next_step=Clear("the task that planned it with all tasks after it") + "; it writes a new dump",
            ) from error


def _said(fields: dict[str, Any]) -> StatementSaid:
    return StatementSaid(**{name: fields[name] for name in asdict(StatementSaid())})


def _base(fields: dict[str, Any]) -> BaseContent:
    return BaseContent(
        views=fields["views"],
        functions=tuple(_function(entry) for entry in fields["functions"]),
        foreign_keys=tuple(_pair(pair) for pair in fields["foreign_keys"]),
        round=fields["round"],
    )


def _window(fields: dict[str, Any]) -> WindowContent:
    return WindowContent(
        tuple(fields["cascades"]),
        tuple(fields["snapshots"]),
        fields["consistency"],
        fields["everything"],
        tuple(_function(entry) for entry in fields["functions"]),
    )


_CONTENTS: Mapping[DumpKind, Callable[[dict[str, Any]], BaseContent | WindowContent]]
_CONTENTS = {DumpKind.BOOTSTRAP: _base, DumpKind.CONSOLIDATE: _base, DumpKind.INCREMENTAL: _window}


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} cannot be written as JSON")


def _function(fields: dict[str, Any]) -> Function:
    return Function(**{**fields, "resources": tuple(fields["resources"])})


def _pair(fields: list[dict[str, str]]) -> TablePair:
    child, parent = fields
    return TableName(**child), TableName(**parent)


def _batch(fields: dict[str, Any]) -> Batch:
    slices = tuple(
        Slice(TableName(**entry["table"]), entry["first"], entry["last"], entry["of"]) for entry in fields["slices"]
    )
    return Batch(_component(fields["name"]), fields["label"], slices)


def _component(name: str) -> str:
    """Return what names files. Raises ValueError for a text that names none, or one elsewhere."""
    if _COMPONENT.fullmatch(name) is None:
        raise ValueError(f"{name!r} cannot be in the name of a file")
    return name

"""What is to be copied where, and how; refuse what cannot be meant."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields
from enum import StrEnum
from typing import Any, TypeVar

from twinhive.core.model.errors import InvalidSettings

LETTERS = "rbugpcaxt"
USUAL_LETTERS = "rbugpct"
"""What DistCp preserves when `-p` has no letters."""

_LIMITS = ("trash_days", "bandwidth_mb", "threads", "split_above")


class Mode(StrEnum):
    """What happens to a file that the target has already."""

    UPDATE = "update"
    """It stays when it is equal."""
    OVERWRITE = "overwrite"
    """It is copied again."""


class Deletes(StrEnum):
    """What happens at the target to what the source does not have."""

    NO = "no"
    TRASH = "trash"
    """It is moved into the target's own trash, which keeps it for some days."""
    PERMANENTLY = "permanently"


class OnUnreadable(StrEnum):
    """What an unreadable file or directory of the source means."""

    FAIL = "fail"
    SKIP = "skip"
    """It is left out and counted as failed; the rest is put in place."""


class CompareBy(StrEnum):
    """What makes two files of one length equal."""

    CHECKSUM = "checksum"
    TIME = "time"
    """The copy is not older than the original."""


@dataclass(frozen=True)
class SyncOptions:
    """How a tree is copied; every default is the safe one.

    mode, delete, on_unreadable, compare   see their enums
    trash_days     how long deleted files stay in the target's trash
    force          delete even when the source looks empty or could not be read in full
    append         a file that has only grown gets its new bytes, not all of them
    preserve       DistCp's letters: replication, block size, user, group, permission, checksum type, ACL, extended
                   attributes (x), times
    include        regular expressions of what is copied, none: everything
    exclude        regular expressions of what is neither copied nor deleted
    bandwidth_mb   megabytes a second for the whole job, None: no limit
    atomic         the target must be new, and appears only when everything was copied
    snapshots      read from a snapshot of the source, and only the difference where both ends have the last one
    recheck        compare checksums also of files that an earlier run has found equal
    threads        files that one process copies at the same time
    split_above    bytes above which a file is copied in parts
    staging        directory for unfinished work, on the target's file system; None: beside or in the target
    busy           the source is written to all the time: a file that is gone when it is to be copied is no failure, one
                   that was replaced is copied as it is now
    skip_unfinished   leave out what running jobs have not finished (`model.unfinished`)
    """

    mode: Mode = Mode.UPDATE
    delete: Deletes = Deletes.NO
    trash_days: float = 7.0
    force: bool = False
    append: bool = False
    preserve: frozenset[str] = field(default=frozenset())
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    bandwidth_mb: float | None = None
    on_unreadable: OnUnreadable = OnUnreadable.FAIL
    atomic: bool = False
    snapshots: bool = False
    recheck: bool = False
    compare: CompareBy = CompareBy.CHECKSUM
    threads: int = 8
    split_above: int = 2**30
    staging: str | None = None
    busy: bool = False
    skip_unfinished: bool = False

    @property
    def deletes(self) -> bool:
        """True when something may be deleted at the target."""
        return self.delete is not Deletes.NO

    @property
    def bytes_per_second(self) -> float | None:
        """What the whole job may move, None for no limit."""
        return self.bandwidth_mb * 1_000_000 if self.bandwidth_mb else None

    def to_document(self) -> dict[str, Any]:
        """Return the options as plain JSON values, for the process that executes a plan."""
        return {**asdict(self), "preserve": "".join(sorted(self.preserve))}

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> "SyncOptions":
        """Return options from plain values as users and `to_document` give them. Raises InvalidSettings.

        `preserve` is a string of letters; what is not given has its default.
        """
        unknown = sorted(given.keys() - {known.name for known in fields(cls)})
        if unknown:
            raise InvalidSettings(
                f"copy options: {unknown[0]} is not one of them",
                found=", ".join(unknown),
                expected=f"only {', '.join(sorted(known.name for known in fields(cls)))}",
                next_step="leave it out, or use the version that wrote these options",
            )
        values = dict(given)
        for name, choices in _CHOICES.items():
            if name in values:
                values[name] = _choice(name, choices, values[name])
        values["preserve"] = preserved_letters(values.get("preserve", ""))
        for name in ("include", "exclude"):
            values[name] = tuple(values.get(name, ()))
        return checked(cls(**values))


@dataclass(frozen=True)
class SyncRequest:
    """Copy these sources to that target. Paths are full URIs."""

    sources: tuple[str, ...]
    target: str
    options: SyncOptions = SyncOptions()


_CHOICES: dict[str, type[StrEnum]] = {
    "mode": Mode,
    "delete": Deletes,
    "on_unreadable": OnUnreadable,
    "compare": CompareBy,
}

Choice = TypeVar("Choice", bound=StrEnum)


def preserved_letters(letters: Iterable[str]) -> frozenset[str]:
    """Return what is to be preserved; an ACL brings the permission along. Raises InvalidSettings for other letters."""
    given = frozenset(letters)
    unknown = sorted(given - set(LETTERS))
    if unknown:
        raise InvalidSettings(
            f"preserve: {unknown[0]!r} is not a letter that can be preserved",
            found="".join(sorted(given)),
            expected=f"letters of {LETTERS}",
            next_step="twinhive copy --help says what each letter means",
        )
    return given | {"p"} if "a" in given else given


def checked(options: SyncOptions) -> SyncOptions:
    """Return the options as they are. Raises InvalidSettings for limits and combinations that cannot be meant."""
    for name in _LIMITS:
        value = getattr(options, name)
        if value is not None and not (value > 0 and math.isfinite(value)):
            raise InvalidSettings(
                f"{name} must be above zero",
                found=value,
                expected="a number above zero",
                next_step=f"give another {name}, or none",
            )
    for first, second, why in _contradictions(options):
        raise InvalidSettings(
            f"{first} and {second} exclude each other: {why}",
            found="both",
            expected="one of them",
            next_step="leave one of them out",
        )
    return options


def _contradictions(options: SyncOptions) -> Iterable[tuple[str, str, str]]:
    overwrites = options.mode is Mode.OVERWRITE
    skips = options.on_unreadable is OnUnreadable.SKIP
    by_time = options.compare is CompareBy.TIME
    pairs = (
        (options.append and overwrites, "append", "mode=overwrite", "overwriting copies every byte again"),
        (options.append and by_time, "append", "compare=time", "what was there must be compared before more is added"),
        (options.append and options.atomic, "append", "atomic", "a new target has nothing to append to"),
        (options.atomic and options.deletes, "atomic", "delete", "a new target has nothing to delete"),
        (options.atomic and skips, "atomic", "on_unreadable=skip", "an atomic copy is whole or is not there"),
    )
    return ((first, second, why) for wrong, first, second, why in pairs if wrong)


def _choice(name: str, choices: type[Choice], value: str) -> Choice:
    try:
        return choices(value)
    except ValueError:
        known = " or ".join(choices)
        raise InvalidSettings(
            f"{name}: this is not one of its values", found=value, expected=known, next_step=f"give another {name}"
        ) from None

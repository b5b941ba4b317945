"""How writers are kept away from a source while its replica takes over, and what says so at its database."""

import json
from collections.abc import Mapping
from dataclasses import astuple, dataclass, field
from typing import Final

from twinhive.core.model.changes.events import Position
from twinhive.core.model.errors import ActNow

FENCED = "twinhive.fenced"
"""On the source's database: whose failover keeps writers away, since when, and where the note of it lies."""
QUOTA: Final = "quota"
"""No new name below the database's directories: HDFS refuses each create, mkdir and rename, to superusers too."""
COMMAND: Final = "command"
"""A command of the operator's own: stops HiveServer2, takes rights away in Ranger, pauses jobs."""
QUIET_SECONDS = 20.0
"""So long a source must log nothing: longer than a writer takes from its last file to its event."""
FULL = 1
"""The quota of names of a fenced directory: it counts itself, so that nothing more has room."""


@dataclass(frozen=True)
class FenceRules:
    """What a policy says of it: `rungs` are set in this order, and taken away in the opposite one.

    close, open   the command's words with which the operator keeps writers away, and lets them in again
    """

    rungs: tuple[str, ...] = ()
    close: tuple[str, ...] = ()
    open: tuple[str, ...] = ()


@dataclass(frozen=True)
class FenceMark:
    """What the source's database says: `<policy>:<token>:<seconds since the epoch>@<note>`."""

    policy: str
    token: str
    since: int
    note: str

    def __str__(self) -> str:
        return f"{self.policy}:{self.token}:{self.since}@{self.note}"

    @classmethod
    def read(cls, parameters: Mapping[str, str]) -> "FenceMark | None":
        """Return what a database says of a fence; None without one. Raises ActNow for a mark that says nothing."""
        text = parameters.get(FENCED)
        if not text:
            return None
        said, _, note = text.partition("@")
        policy, _, rest = said.partition(":")
        token, _, since = rest.partition(":")
        if not (policy and token and since.isdigit() and note):
            raise ActNow(
                "a database is marked as fenced, and nobody can read by whom",
                found=f"{FENCED} = {text}",
                expected="<policy>:<token>:<seconds>@<note>",
                next_step="find out who wrote it; once its writers may write, take the parameter away",
            )
        return cls(policy, token, int(since), note)


@dataclass(frozen=True)
class FenceNote:
    """What was there before, to be put back: a file on the replica, written before each change that it tells of.

    names    by fenced directory, the quota of names that it had, None where it had none
    is_shut  the operator's command was begun
    snapshots   by directory, the name of the snapshot of what it held before
    log_end     the newest event of the source's log before the first of these
    """

    token: str
    rules: FenceRules
    names: Mapping[str, int | None] = field(default_factory=dict)
    is_shut: bool = False
    snapshots: Mapping[str, str] = field(default_factory=dict)
    log_end: Position | None = None

    @property
    def snapshot(self) -> str:
        """The name that this fence gives its snapshots. It is none of those that copies of directories rotate."""
        return f"twinhive_fence_{self.token}"

    def written(self) -> bytes:
        """Return it as JSON."""
        rules = {"rungs": self.rules.rungs, "close": self.rules.close, "open": self.rules.open}
        said = {"token": self.token, "rules": rules, "names": dict(self.names), "is_shut": self.is_shut}
        said |= {"snapshots": dict(self.snapshots), "log_end": self.log_end and astuple(self.log_end)}
        return json.dumps(said, indent=1).encode()

    @classmethod
    def read(cls, content: bytes, path: str) -> "FenceNote":
        """Read one. Raises ActNow for what is none."""
        try:
            said = json.loads(content)
            rules = FenceRules(*(tuple(map(str, said["rules"][key])) for key in ("rungs", "close", "open")))
            names = {str(one): None if was is None else int(was) for one, was in said["names"].items()}
            # A note of a version that made no snapshots says nothing of them.
            snapshots = {str(one): str(name) for one, name in said.get("snapshots", {}).items()}
            log_end = said.get("log_end")
            begin = Position(int(log_end[0]), int(log_end[1]), str(log_end[2])) if log_end else None
            return cls(str(said["token"]), rules, names, bool(said["is_shut"]), snapshots, begin)
        except (ValueError, KeyError, IndexError, TypeError, AttributeError) as error:
            raise ActNow(
                "the note of a fence cannot be read",
                found=f"{path}: {error}",
                expected="what a failover has written before it kept writers away",
                next_step="look for directories with a quota of 1 (hdfs dfs -count -q) and clear it there "
                "(hdfs dfsadmin -clrQuota); then delete the note",
            ) from error

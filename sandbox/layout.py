"""Lay out an instance's directory and keep its record."""

import json
import secrets
import shutil
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from sandbox.errors import SandboxError

_RECORD = "instance.json"
_KIND = "twinhive sandbox"


@dataclass(frozen=True)
class InstanceRecord:
    """Remember what an instance must not forget between two starts."""

    name: str
    checkout: str
    port_base: int
    postgres_password: str
    kind: str = _KIND


@dataclass(frozen=True)
class Layout:
    """Name the places of one instance."""

    root: Path

    @property
    def log(self) -> Path:
        """Return the directory of all log files."""
        return self.root / "log"

    @property
    def configuration(self) -> Path:
        """Return the directory of all configuration written at each start."""
        return self.root / "conf"

    @property
    def temporary(self) -> Path:
        """Return the directory servers put their temporary files in."""
        return self.root / "tmp"

    def storage(self, name: str) -> Path:
        """Return where a server or cluster keeps what must survive."""
        return self.root / "data" / name

    def pid_file(self, server: str) -> Path:
        """Return the file that identifies a server's process."""
        return self.root / "run" / f"{server}.pid"

    def log_file(self, server: str) -> Path:
        """Return a server's own log."""
        return self.log / f"{server}.log"

    def output_file(self, server: str) -> Path:
        """Return the file with what a server prints."""
        return self.log / f"{server}.out"

    def create(self) -> None:
        """Create the directories."""
        for directory in (self.log, self.configuration, self.temporary, self.root / "run", self.root / "data"):
            directory.mkdir(parents=True, exist_ok=True)

    def read_record(self) -> InstanceRecord | None:
        """Return the instance's record, if it was ever started."""
        try:
            fields = json.loads((self.root / _RECORD).read_text())
        except FileNotFoundError:
            return None
        if fields.get("kind") != _KIND:
            raise SandboxError(f"{self.root} is not a sandbox's directory: its {_RECORD} says {fields.get('kind')!r}")
        return InstanceRecord(**fields)

    def write_record(self, record: InstanceRecord) -> None:
        """Store the instance's record in one step."""
        self.create()
        temporary = self.root / f"{_RECORD}.new"
        temporary.touch(mode=0o600)
        temporary.write_text(json.dumps(asdict(record), indent=2))
        temporary.replace(self.root / _RECORD)

    def delete(self) -> None:
        """Delete everything, unless the directory is not marked as a sandbox's."""
        if not self.root.exists():
            return
        if self.read_record() is None:
            raise SandboxError(f"{self.root} has no {_RECORD}, so it is not deleted; look at it and remove it yourself")
        # The record goes last: a deletion that was interrupted can be repeated.
        for entry in self.root.iterdir():
            if entry.name != _RECORD:
                shutil.rmtree(entry) if entry.is_dir() and not entry.is_symlink() else entry.unlink()
        shutil.rmtree(self.root)


def new_record(name: str, checkout: Path, port_base: int) -> InstanceRecord:
    """Return the record of an instance that starts for the first time."""
    return InstanceRecord(name, str(checkout), port_base, secrets.token_hex(8))


def moved(record: InstanceRecord, port_base: int) -> InstanceRecord:
    """Return the record with other ports."""
    return replace(record, port_base=port_base)

"""Find, publish, read and remove the dumps of a policy."""

import json
from dataclasses import dataclass
from typing import Any

from twinhive.domain.errors import ActNow, Missing
from twinhive.domain.policy import Policy
from twinhive.dump.layout import DumpLayout
from twinhive.dump.manifest import DumpManifest
from twinhive.dump.shards import TableRecord, decode_objects
from twinhive.ports import FileReader, FileWriter


@dataclass(frozen=True)
class Dump:
    """A dump that can be read: its place and its manifest."""

    layout: DumpLayout
    manifest: DumpManifest

    @property
    def key(self) -> str:
        """Return what tells this dump from every other, also from one that began at the same event."""
        return f"{self.layout.name}-{self.manifest.token[:8]}"

    def objects(self, files: FileReader, batch: str) -> list[TableRecord]:
        """Read the tables and partitions of one batch."""
        return decode_objects(files.read(self.layout.objects(batch)))


def current_dump(files: FileReader, policy: Policy) -> Dump:
    """Return the policy's newest dump. Raises ActNow when there is none, or one of another policy text."""
    layouts = dumps_of(files, policy)
    if not layouts:
        raise Missing(
            f"policy {policy.name} has no dump in {policy.dumps}",
            next_step="clear the task list_objects with all tasks after it",
        )
    return _of_this_text(open_dump(files, layouts[-1]), policy)


def newest_dump(files: FileReader, policy: Policy) -> Dump | None:
    """Return the policy's newest dump whatever text it was made under; None when none can be read."""
    layouts = dumps_of(files, policy)
    try:
        return open_dump(files, layouts[-1]) if layouts else None
    except ActNow:
        return None


def _of_this_text(dump: Dump, policy: Policy) -> Dump:
    if dump.manifest.fingerprint != policy.fingerprint:
        raise ActNow(
            f"the dump {dump.key} was made under another text of policy {policy.name}",
            found=f"fingerprint {dump.manifest.fingerprint}",
            expected=f"fingerprint {policy.fingerprint}",
            next_step="clear the task list_objects with all tasks after it, or put the old policy file back",
        )
    return dump


def open_dump(files: FileReader, layout: DumpLayout) -> Dump:
    """Read a dump's manifest. Raises Missing when the dump is gone."""
    return Dump(layout, DumpManifest.from_json(files.read(layout.manifest), layout.directory))


def dumps_of(files: FileReader, policy: Policy) -> list[DumpLayout]:
    """Return the policy's dumps, oldest first; attempts are not among them."""
    return [layout for layout in _children(files, policy.dumps) if layout.is_dump]


def _children(files: FileReader, directory: str) -> list[DumpLayout]:
    ((_, entries),) = files.list_directories([directory])
    return [DumpLayout(entry.path) for entry in entries or []]


def remove_other_dumps(files: FileWriter, policy: Policy, keep: DumpLayout) -> list[str]:
    """Remove the policy's older dumps and all attempts; return what was removed.

    One run of a policy is active at a time, so whatever is not `keep` is an orphan.
    """
    orphans = [
        layout.directory
        for layout in _children(files, policy.dumps)
        if layout != keep and (layout.is_dump or layout.is_attempt)
    ]
    for directory in orphans:
        files.delete(directory)
    return orphans


def write_json(files: FileWriter, path: str, value: dict[str, Any]) -> None:
    """Write a small JSON file."""
    files.write(path, json.dumps(value, indent=1, ensure_ascii=False).encode())


def read_json(files: FileReader, path: str) -> dict[str, Any] | None:
    """Read a small JSON file, or None when it does not exist."""
    try:
        value: dict[str, Any] = json.loads(files.read(path))
    except Missing:
        return None
    return value

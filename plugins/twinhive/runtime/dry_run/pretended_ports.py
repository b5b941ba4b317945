"""Hand steps ports with which they decide in earnest and change nothing: for plans."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, cast

from twinhive.core.model.lease_kinds import LeaseKind
from twinhive.core.ports import (
    FileReader,
    FileWriter,
    Lease,
    LeaseKeeper,
    MetastoreReader,
    MetastoreWriter,
    SourceMarker,
    TreePorts,
    TreeReader,
    TreeSource,
    TreeWriter,
    WritePorts,
)
from twinhive.runtime.dry_run.pretended_files import PretendedFiles
from twinhive.runtime.dry_run.pretended_metastore import PretendedMetastore


def pretended(ports: WritePorts) -> WritePorts:
    """Return ports over the same clusters: what steps write is seen by themselves, and by nobody else.

    One file system that is read under two names, as the replica's and as that of the dumps, is one here too.
    """
    overlays: dict[str, PretendedFiles] = {}

    def overlay(files: FileReader) -> Any:
        return overlays.setdefault(files.root, PretendedFiles(files))

    lease = cast(LeaseKeeper, _NobodysLease(ports.lease))
    return WritePorts(
        source=cast(MetastoreReader, _OnlyRead(ports.source, MetastoreReader)),
        replica=cast(MetastoreWriter, PretendedMetastore(ports.replica)),
        source_files=cast(FileReader, _OnlyRead(ports.source_files, TreeReader)),
        replica_files=cast(FileWriter, overlay(ports.replica_files)),
        dump_files=cast(FileWriter, overlay(ports.dump_files)),
        lease=lease,
        source_marker=cast(SourceMarker, _NoMarker()),
        trees=TreePorts(
            source=cast(TreeSource, _OnlyRead(ports.trees.source, TreeReader)),
            replica=cast(TreeWriter, overlay(ports.trees.replica)),
            lease=lease,
            restored=cast(TreeWriter, overlay(ports.trees.source)),
        ),
    )


class _OnlyRead:
    """Pass on what a reading port has, nothing else."""

    def __init__(self, port: Any, reader: type) -> None:
        self._port = port
        self._names = frozenset(name for name in dir(reader) if not name.startswith("_"))

    def __getattr__(self, name: str) -> Any:
        if name not in self._names:
            raise NotImplementedError(f"a rehearsal cannot pretend {name}")
        return getattr(self._port, name)


class _NobodysLease:
    """Let steps believe that they hold the lease, and see who holds it in truth."""

    def __init__(self, keeper: LeaseKeeper) -> None:
        self._keeper = keeper

    @contextmanager
    def hold(self, directory: str, holder: Mapping[str, str], kind: LeaseKind) -> Iterator[Lease]:
        yield _Believed()

    def holder(self, directory: str) -> str | None:
        return self._keeper.holder(directory)

    def is_held(self, directory: str) -> bool:
        return self._keeper.is_held(directory)


class _Believed:
    def confirm(self) -> None:
        """Have nothing to prove: nothing is changed."""


class _NoMarker:
    def mark(self, database: str, policy: str) -> None:
        """Leave the source unmarked."""

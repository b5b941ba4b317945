"""Hand ports to steps: those that plan get readers only."""

from dataclasses import dataclass

from twinhive.core.ports.file_systems import FileReader, FileWriter
from twinhive.core.ports.leases import LeaseKeeper
from twinhive.core.ports.metastores import MetastoreReader, MetastoreWriter, SourceMarker
from twinhive.core.ports.proved_writes import proved, proving_keeper
from twinhive.core.ports.trees import TreeSource, TreeWriter


@dataclass(frozen=True)
class SourcePorts:
    """What a step uses that knows no replica: readers of the source, and the dump."""

    source: MetastoreReader
    source_files: FileReader
    dump_files: FileWriter


@dataclass(frozen=True)
class DumpPorts(SourcePorts):
    """What REPL DUMP uses: it writes nothing to the source but its dump and its mark."""

    source_marker: SourceMarker


@dataclass(frozen=True)
class ReadPorts(SourcePorts):
    """What a planning step may use: readers of both clusters, and the dump."""

    replica: MetastoreReader
    replica_files: FileReader


@dataclass(frozen=True)
class TreePorts:
    """What a copy of directory trees may use. The lease is that of one directory, not of the policy.

    `restored` is the source once more, for what a fence has let be destroyed there; nothing else writes it.
    """

    source: TreeSource
    replica: TreeWriter
    lease: LeaseKeeper
    restored: TreeWriter


@dataclass(frozen=True)
class WritePorts(ReadPorts):
    """What a step that changes the replica may use, for one piece of work.

    Each write of a metastore proves the leases that are held through `lease`, whatever ports a bundle is made of. The
    proof before changes of files is the step's.
    """

    replica: MetastoreWriter
    replica_files: FileWriter
    lease: LeaseKeeper
    source_marker: SourceMarker
    trees: TreePorts

    def __post_init__(self) -> None:
        leases = proving_keeper(self.lease)
        object.__setattr__(self, "lease", leases)
        object.__setattr__(self, "replica", proved(self.replica, leases))
        object.__setattr__(self, "source_marker", proved(self.source_marker, leases))

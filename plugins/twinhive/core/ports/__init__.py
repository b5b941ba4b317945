"""State what the steps need from the outside world.

Reading and writing are different types, so that a planning step, which is handed readers only,
cannot write: the type checker says so. Every implementation raises only errors of
`twinhive.core.model.errors`: `Unreachable` when a call may be tried again, `Refused` when not.
"""

from twinhive.core.ports.brokers import MessageBroker, Subscription
from twinhive.core.ports.bundles import DumpPorts, ReadPorts, SourcePorts, TreePorts, WritePorts
from twinhive.core.ports.file_systems import FileReader, FileWriter, children, if_there, rename_into, rename_or_make
from twinhive.core.ports.leases import Lease, LeaseKeeper
from twinhive.core.ports.metastores import EventLog, MetastoreReader, MetastoreWriter, SourceMarker, UnreadWriter
from twinhive.core.ports.trees import (
    AttributeReader,
    AttributeWriter,
    NameQuotas,
    SnapshotReader,
    SnapshotWriter,
    TreeReader,
    TreeSource,
    TreeWriter,
)

__all__ = [
    "AttributeReader",
    "AttributeWriter",
    "DumpPorts",
    "EventLog",
    "FileReader",
    "FileWriter",
    "Lease",
    "LeaseKeeper",
    "MessageBroker",
    "MetastoreReader",
    "MetastoreWriter",
    "NameQuotas",
    "ReadPorts",
    "SnapshotReader",
    "SnapshotWriter",
    "SourceMarker",
    "SourcePorts",
    "Subscription",
    "TreePorts",
    "TreeReader",
    "TreeSource",
    "TreeWriter",
    "UnreadWriter",
    "WritePorts",
    "children",
    "if_there",
    "rename_into",
    "rename_or_make",
]

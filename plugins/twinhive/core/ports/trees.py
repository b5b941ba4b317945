"""State what a copy of a directory tree needs of a file system, besides its files."""

from collections.abc import Iterator
from typing import Protocol

from twinhive.core.model.files import Attributes, SnapshotChange
from twinhive.core.ports.file_systems import FileReader, FileWriter


class AttributeReader(Protocol):
    """Read what a path carries besides its bytes and its status."""

    def acl(self, path: str) -> tuple[str, ...]:
        """Return the entries of an ACL as Hadoop writes them, () where there is none. Raises Missing."""
        ...

    def extended_attributes(self, path: str) -> dict[str, bytes]:
        """Return all extended attributes that we may see, {} where there are none. Raises Missing."""
        ...

    def checksum_type(self, path: str) -> str:
        """Say how HDFS guards a file's blocks (`CRC32C/512`), '' where that is not known. Raises Missing."""
        ...


class AttributeWriter(AttributeReader, Protocol):
    """Change what a path carries besides its bytes."""

    def set_attributes(self, path: str, attributes: Attributes) -> None:
        """Set all that is not None, the times last. Raises Missing, Refused."""
        ...


class SnapshotReader(Protocol):
    """Read the snapshots of directories."""

    def snapshots(self, path: str) -> list[str] | None:
        """Return the names of a directory's snapshots, None where it cannot have any."""
        ...

    def snapshot_changes(self, path: str, since: str, until: str) -> Iterator[SnapshotChange]:
        """Yield what is different below a directory in two of its snapshots; '' is the present state.

        A change of times alone is not reported. Raises Missing without a snapshot.
        """
        ...


class SnapshotWriter(SnapshotReader, Protocol):
    """Make and delete the snapshots of directories."""

    def allow_snapshots(self, path: str) -> None:
        """Let a directory have snapshots; one that may is fine. Raises Refused (it takes an administrator)."""
        ...

    def create_snapshot(self, path: str, name: str) -> None:
        """Make a snapshot. Raises AlreadyThere, Refused."""
        ...

    def delete_snapshot(self, path: str, name: str) -> None:
        """Delete a snapshot; one that does not exist is fine."""
        ...


class NameQuotas(Protocol):
    """Keep new names out of a directory, and see who writes files there."""

    def name_quota(self, path: str) -> int | None:
        """Return how many names a directory may hold, itself included; None without a quota. Raises Missing."""
        ...

    def set_name_quota(self, path: str, names: int | None) -> None:
        """Set the quota of names, or take it away. Raises Missing, Refused (it takes an administrator)."""
        ...

    def open_files(self, path: str, most: int) -> list[str]:
        """Return files at or below a path that somebody is writing, at most so many. Raises Refused."""
        ...


class TreeReader(FileReader, AttributeReader, SnapshotReader, Protocol):
    """Read all that a copy of a directory tree may have to know."""


class TreeWriter(FileWriter, AttributeWriter, SnapshotWriter, NameQuotas, Protocol):
    """Write a copy of a directory tree."""


class TreeSource(TreeReader, SnapshotWriter, NameQuotas, Protocol):
    """Read a tree, and make and delete snapshots of it or keep writers out, which change nothing in it."""

"""Give a copy what its original carries besides its bytes, as far as it is wanted and differs.

The letters are DistCp's: r replication, b block size, u user, g group, p permission, c checksum type,
a ACL, x extended attributes, t times. What can be told when a file is created costs no call of its own;
what the target has already costs none either.
"""

from dataclasses import dataclass

from twinhive.core.model.files import Attributes, Creation, FileStatus
from twinhive.core.ports import AttributeReader, AttributeWriter, TreeWriter

_NOTHING = Attributes()


@dataclass(frozen=True)
class Newborn:
    """Whom a new file or directory belongs to before anybody says so, and what a new directory's permission is."""

    owner: str = ""
    group: str = ""
    permission: int | None = None

    @classmethod
    def seen(cls, target: TreeWriter, probe: str) -> "Newborn":
        """Make the directory `probe` anew and look at it: a file gets the same owner and group as a directory."""
        target.delete(probe)
        target.make_directories(probe)
        made = target.status(probe)
        return cls(made.owner, made.group, made.permission) if made else cls()


UNKNOWN = Newborn()


class AttributeComparison:
    """Find out in what the attributes that `letters` name differ; may be shared between threads."""

    def __init__(self, source: AttributeReader, target: AttributeReader, letters: frozenset[str]) -> None:
        self._source = source
        self._target = target
        self._letters = letters

    def differ(self, original: FileStatus, there: FileStatus) -> bool:
        """True when the target's path has not all that its original has."""
        return self.difference(original, there) != _NOTHING

    def difference(self, original: FileStatus, there: FileStatus) -> Attributes:
        """Return what has to be set, nothing where all is equal. Raises Missing."""
        wanted = self._letters
        # Reading a file changes its access time, our own reading too: alone it is not worth a call.
        retimed = "t" in wanted and original.modified_ms != there.modified_ms
        return Attributes(
            owner=original.owner if "u" in wanted and original.owner != there.owner else None,
            group=original.group if "g" in wanted and original.group != there.group else None,
            permission=original.permission if "p" in wanted and original.permission != there.permission else None,
            replication=self._replication(original, there) if "r" in wanted else None,
            acl=self._acl(original, there) if "a" in wanted else None,
            extended=self._extended(original, there) if "x" in wanted else None,
            modified_ms=original.modified_ms if retimed else None,
            accessed_ms=original.accessed_ms if retimed and not original.is_directory else None,
        )

    def _replication(self, original: FileStatus, there: FileStatus) -> int | None:
        same = original.is_directory or original.replication in (0, there.replication)
        return None if same else original.replication

    def _acl(self, original: FileStatus, there: FileStatus) -> tuple[str, ...] | None:
        """Return the ACL to set: the listings tell who has none, which is nearly everybody."""
        here = self._source.acl(original.path) if original.has_acl else ()
        found = self._target.acl(there.path) if there.has_acl else ()
        return None if set(here) == set(found) else here

    def _extended(self, original: FileStatus, there: FileStatus) -> dict[str, bytes] | None:
        here = self._source.extended_attributes(original.path)
        is_new = there.modified_ms < 0
        found = {} if is_new else self._target.extended_attributes(there.path)
        return None if here == found else here


class AttributeCopier:
    """Carry the attributes that `letters` name from one file system to another; may be shared between threads."""

    def __init__(
        self, source: AttributeReader, target: AttributeWriter, letters: frozenset[str], newborn: Newborn
    ) -> None:
        self._source = source
        self._target = target
        self._letters = letters
        self._newborn = newborn
        self._comparison = AttributeComparison(source, target, letters)

    @property
    def letters(self) -> frozenset[str]:
        """What is carried over."""
        return self._letters

    def creation(self, original: FileStatus) -> Creation:
        """Say how the copy of a file is created. Raises Missing."""
        wanted = self._letters
        return Creation(
            block_size=original.block_size if "b" in wanted else 0,
            replication=original.replication if "r" in wanted else 0,
            permission=original.permission if "p" in wanted else None,
            checksum=self._source.checksum_type(original.path) if "c" in wanted else "",
        )

    def give_new(self, original: FileStatus, path: str) -> None:
        """Give a file made by `creation`, or a new directory, what it has not yet. Raises Missing, Refused."""
        born = self._newborn
        permission = born.permission if original.is_directory else original.permission
        self._give(
            original,
            FileStatus(
                path,
                original.length,
                modified_ms=-1,
                is_directory=original.is_directory,
                owner=born.owner,
                group=born.group,
                permission=-1 if permission is None else permission,
                replication=original.replication,
            ),
        )

    def align(self, original: FileStatus, there: FileStatus) -> bool:
        """Give what exists the attributes of its original; True when something differed. Raises Missing, Refused."""
        return self._give(original, there)

    def _give(self, original: FileStatus, there: FileStatus) -> bool:
        differing = self._comparison.difference(original, there)
        if differing == _NOTHING:
            return False
        self._target.set_attributes(there.path, differing)
        return True

"""Read and change what a path carries besides its bytes."""

from typing import Any

from twinhive.core.model.files import Attributes
from twinhive.hive.adapters.hdfs.hadoop_connections import HadoopConnections
from twinhive.hive.adapters.hdfs.hadoop_errors import translated
from twinhive.hive.adapters.jvm.java_vm import java_class

# The others are the server's own (system, security) or are never shown (raw).
_COPIED_NAMESPACES = ("user.", "trusted.")
_UNCHANGED = -1


class HadoopAttributes(HadoopConnections):
    """Implement AttributeWriter. A file system that has no such thing reads as empty and refuses to be changed."""

    def acl(self, path: str) -> tuple[str, ...]:
        """Return all entries of an ACL, those included that repeat the permission; () where there is none."""
        with translated(self.root, path):
            try:
                found = self._java.getAclStatus(self._path(path))
            except java_class("java.lang.UnsupportedOperationException"):
                self._check_is_there(path)
                return ()
            entries = found.getEntries()
            if entries.isEmpty():
                return ()
            whole = java_class("org.apache.hadoop.fs.permission.AclUtil")
            return tuple(map(str, whole.getAclFromPermAndEntries(found.getPermission(), entries)))

    def extended_attributes(self, path: str) -> dict[str, bytes]:
        """Return the attributes of the namespaces `user` and `trusted`, {} where there are none. Raises Missing."""
        with translated(self.root, path):
            try:
                return self._extended(path)
            except java_class("java.lang.UnsupportedOperationException"):
                self._check_is_there(path)
                return {}

    def checksum_type(self, path: str) -> str:
        """Say how HDFS guards a file's blocks (`CRC32C/512`), '' for an empty file and elsewhere. Raises Missing."""
        with translated(self.root, path):
            found = self._java.getFileChecksum(self._path(path))
            if found is None:
                self._check_is_there(path)
                return ""
            option = found.getChecksumOpt()
            if option is None or option.getBytesPerChecksum() <= 0:
                return ""
            return f"{option.getChecksumType().name()}/{option.getBytesPerChecksum()}"

    def set_attributes(self, path: str, attributes: Attributes) -> None:
        """Set all that is not None, the times last: they are what the other changes would touch.

        The path has exactly the given extended attributes afterwards. Raises Missing, Refused.
        """
        with translated(self.root, path):
            self._set_ownership(self._changed(path), attributes)
            if attributes.replication is not None:
                self._java.setReplication(self._path(path), attributes.replication)
            if attributes.acl is not None:
                self._set_acl(self._path(path), attributes.acl)
            if attributes.extended is not None:
                self._set_extended(path, dict(attributes.extended))
            times = (attributes.modified_ms, attributes.accessed_ms)
            if times != (None, None):
                self._java.setTimes(self._path(path), *(_UNCHANGED if time is None else time for time in times))

    def _check_is_there(self, path: str) -> None:
        """Raise what Java raises for a missing path: calls that a file system does not have look at none."""
        self._java.getFileStatus(self._path(path))

    def _set_ownership(self, path: Any, attributes: Attributes) -> None:
        if attributes.owner is not None or attributes.group is not None:
            self._java.setOwner(path, attributes.owner, attributes.group)
        if attributes.permission is not None:
            permission = java_class("org.apache.hadoop.fs.permission.FsPermission")
            self._java.setPermission(path, permission.createImmutable(attributes.permission))

    def _set_acl(self, path: Any, acl: tuple[str, ...]) -> None:
        if acl:
            entry = java_class("org.apache.hadoop.fs.permission.AclEntry")
            self._java.setAcl(path, entry.parseAclSpec(",".join(acl), True))
        else:
            self._java.removeAcl(path)

    def _set_extended(self, path: str, wanted: dict[str, bytes]) -> None:
        found = self._extended(path)
        for name, value in wanted.items():
            if found.get(name) != value:
                self._java.setXAttr(self._path(path), name, value)
        for name in found.keys() - wanted.keys():
            self._java.removeXAttr(self._path(path), name)

    def _extended(self, path: str) -> dict[str, bytes]:
        found = {str(entry.getKey()): entry.getValue() for entry in self._java.getXAttrs(self._path(path)).entrySet()}
        return {
            name: b"" if value is None else bytes(value)
            for name, value in found.items()
            if name.startswith(_COPIED_NAMESPACES)
        }

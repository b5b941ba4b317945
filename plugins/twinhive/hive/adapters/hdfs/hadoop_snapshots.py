"""Make, delete and compare the snapshots of directories."""

from collections.abc import Iterator
from typing import Any

from twinhive.core.model.errors import AlreadyThere, Missing, Refused
from twinhive.core.model.files import ChangeKind, SnapshotChange, join
from twinhive.core.model.next_steps import command
from twinhive.hive.adapters.hdfs.hadoop_connections import HadoopConnections
from twinhive.hive.adapters.hdfs.hadoop_errors import is_missing, is_unknown_call, translated
from twinhive.hive.adapters.jvm.java_vm import java_class

_DIRECTORY = ".snapshot"


class HadoopSnapshots(HadoopConnections):
    """Implement SnapshotWriter for HDFS; other file systems have no snapshots and refuse to make them."""

    def snapshots(self, path: str) -> list[str] | None:
        """Return the names of a directory's snapshots, None where it cannot have any. Raises Missing."""
        with translated(self.root, path):
            if not self._client.is_hdfs:
                self._java.getFileStatus(self._path(path))
                return None
            try:
                found = self._java.listStatus(self._path(join(path, _DIRECTORY)))
            except java_class("java.io.IOException") as error:
                if _is_about_snapshots(error):
                    return None
                raise
            return sorted(str(status.getPath().getName()) for status in found)

    def snapshot_changes(self, path: str, since: str, until: str) -> Iterator[SnapshotChange]:
        """Yield what is different in two snapshots, page by page; '' is the present state, compared at once.

        Paths are those of the earlier one (`since`), so also what is below a directory that was renamed meanwhile;
        of a directory that came or went only itself is reported. Raises Missing without a snapshot.
        """
        self._check_snapshots(path, since, until)
        with translated(self.root, path):
            for change in self._changes(self._path(path), since, until):
                # What went there and back again is reported as renamed to itself.
                if change.path != change.target:
                    yield change

    def allow_snapshots(self, path: str) -> None:
        """Let a directory have snapshots; one that may is fine. Raises Missing, Refused."""
        self._check_is_hdfs(path)
        with translated(self.root, path):
            self._java.allowSnapshot(self._changed(path))

    def create_snapshot(self, path: str, name: str) -> None:
        """Make a snapshot. Raises AlreadyThere, Missing, Refused."""
        self._check_is_hdfs(path)
        with translated(self.root, path):
            try:
                self._java.createSnapshot(self._changed(path), name)
            except java_class("java.io.IOException") as error:
                if _is_about_snapshots(error) and name in (self.snapshots(path) or ()):
                    raise AlreadyThere(
                        f"{path}: {self.root} has a snapshot {name} already",
                        found=name,
                        expected="no snapshot of that name",
                        next_step="take another name, or delete it (hdfs dfs -deleteSnapshot)",
                    ) from None
                raise

    def delete_snapshot(self, path: str, name: str) -> None:
        """Delete a snapshot; one that does not exist is fine."""
        self._check_is_hdfs(path)
        with translated(self.root, path):
            try:
                self._java.deleteSnapshot(self._changed(path), name)
            except java_class("java.io.IOException") as error:
                if is_missing(error) or (_is_about_snapshots(error) and name not in (self.snapshots(path) or ())):
                    return
                raise

    def _changes(self, path: Any, since: str, until: str) -> Iterator[SnapshotChange]:
        # HDFS gives no pages of a comparison with the present state: it could change between two of them.
        if since and until:
            try:
                yield from _paged(self._java.snapshotDiffReportListingRemoteIterator(path, since, until))
            except java_class("java.lang.Exception") as error:
                if not is_unknown_call(error):
                    raise
            else:
                return
        yield from _at_once(self._java.getSnapshotDiffReport(path, since, until))

    def _check_snapshots(self, path: str, *names: str) -> None:
        found = self.snapshots(path)
        if found is None:
            raise Refused(
                f"{path}: {self.root} has no snapshots of this directory",
                found="a directory whose snapshots nobody has allowed",
                expected="a directory that may have snapshots",
                next_step="allow them as an administrator (hdfs dfsadmin -allowSnapshot), or do without",
            )
        for name in names:
            if name and name not in found:
                raise Missing(
                    f"{path}: {self.root} does not have a snapshot {name} of it",
                    found=", ".join(found) or "no snapshot",
                    expected=name,
                    next_step="look what there is: "
                    + command("hdfs", "dfs", "-ls", join(path, _DIRECTORY))
                    + "; name one of these",
                )

    def _check_is_hdfs(self, path: str) -> None:
        if not self._client.is_hdfs:
            raise Refused(
                f"{path}: {self.root} has no snapshots",
                found=self.root,
                expected="a directory on HDFS",
                next_step="do without snapshots there",
            )


def _is_about_snapshots(error: Any) -> bool:
    remote = java_class("org.apache.hadoop.ipc.RemoteException")
    return isinstance(error, remote) and str(error.getClassName()).endswith(".SnapshotException")


def _paged(pages: Any) -> Iterator[SnapshotChange]:
    """Read a report page by page; only what may be one half of a rename is kept.

    A renamed file is in the list of deleted ones with its new path, and as a *reference* in the list of created ones.
    """
    renamed: set[int] = set()
    created: dict[int, str] = {}
    while pages.hasNext():
        page = pages.next()
        for entry in page.getModifyList():
            yield SnapshotChange(ChangeKind.MODIFIED, _relative(entry.getSourcePath()))
        for entry in page.getDeleteList():
            path, target = _relative(entry.getSourcePath()), entry.getTargetPath()
            if entry.isReference() and target is not None:
                renamed.add(int(entry.getFileId()))
                yield SnapshotChange(ChangeKind.RENAMED, path, _relative(target))
            else:
                yield SnapshotChange(ChangeKind.DELETED, path)
        for entry in page.getCreateList():
            if entry.isReference():
                created[int(entry.getFileId())] = _relative(entry.getSourcePath())
            else:
                yield SnapshotChange(ChangeKind.CREATED, _relative(entry.getSourcePath()))
    for file_id in created.keys() - renamed:
        yield SnapshotChange(ChangeKind.CREATED, created[file_id])


def _at_once(report: Any) -> Iterator[SnapshotChange]:
    """Read a report that does not come in pages."""
    kinds = {
        "CREATE": ChangeKind.CREATED,
        "MODIFY": ChangeKind.MODIFIED,
        "DELETE": ChangeKind.DELETED,
        "RENAME": ChangeKind.RENAMED,
    }
    for entry in report.getDiffList():
        target = entry.getTargetPath()
        path = bytes(entry.getSourcePath()).decode()
        yield SnapshotChange(kinds[str(entry.getType().name())], path, target and bytes(target).decode())


def _relative(components: Any) -> str:
    return b"/".join(bytes(component) for component in components if component is not None).decode()

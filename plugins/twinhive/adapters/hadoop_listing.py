"""Read statuses and list many directories in few calls."""

from collections.abc import Iterable, Iterator
from itertools import islice
from operator import attrgetter
from typing import Any

from twinhive.adapters.hadoop_client import HadoopClient
from twinhive.adapters.hadoop_errors import as_ours, is_missing, is_unknown_call, translated
from twinhive.adapters.jvm import java_class
from twinhive.domain.errors import Refused
from twinhive.domain.files import FileStatus

# HDFS refuses more in one call (dfs.namenode.batched.listing.limit).
_DIRECTORIES_PER_CALL = 100

Listing = tuple[str, list[FileStatus] | None]


def list_directories(client: HadoopClient, paths: Iterable[str]) -> Iterator[Listing]:
    """Yield the sorted children of each directory in the given order, None for a missing one."""
    remaining = iter(paths)
    while client.is_hdfs and client.lists_in_bulk and (chunk := list(islice(remaining, _DIRECTORIES_PER_CALL))):
        found = _list_together(client, list(dict.fromkeys(chunk)))
        for path in chunk:
            children = found[path] if path in found else _list_one(client, path)
            yield path, children if children is None else list(children)
    for path in remaining:
        yield path, _list_one(client, path)


def to_status(client: HadoopClient, path: str, java_status: Any) -> FileStatus:
    """Return Java's status of `path` as ours."""
    is_directory = bool(java_status.isDirectory())
    # Java asks a child process for a local file's owner and permission, one process a file.
    knows_owner = not client.is_local
    return FileStatus(
        path=path,
        length=0 if is_directory else int(java_status.getLen()),
        modified_ms=int(java_status.getModificationTime()),
        is_directory=is_directory,
        file_id=int(java_status.getFileId()) if client.is_hdfs else 0,
        owner=str(java_status.getOwner()) if knows_owner else "",
        group=str(java_status.getGroup()) if knows_owner else "",
        permission=int(java_status.getPermission().toShort()) if knows_owner else 0,
        block_size=int(java_status.getBlockSize()),
        replication=int(java_status.getReplication()),
    )


def _list_one(client: HadoopClient, path: str) -> list[FileStatus] | None:
    with translated(client.root, path):
        try:
            statuses = client.java.listStatus(client.to_java(path))
        except java_class("java.io.FileNotFoundException"):
            return None
    return _children(client, path, statuses)


def _list_together(client: HadoopClient, paths: list[str]) -> dict[str, list[FileStatus] | None]:
    """List directories by one call, or several where one has very many children; none on old servers."""
    directories = java_class("java.util.ArrayList")()
    by_listed = {}
    for path in paths:
        java_path = client.to_java(path)
        by_listed[client.from_java(java_path)] = path
        directories.add(java_path)
    found: dict[str, list[FileStatus] | None] = {path: [] for path in paths}
    # The iterator's own calls fail as a whole; what one directory alone suffers is in its part.
    with translated(client.root, f"{paths[0]} and {len(paths) - 1} more"):
        try:
            parts = client.java.batchedListStatusIterator(directories)
            while parts.hasNext():
                _take_part(client, parts.next(), by_listed, found)
        except java_class("java.lang.Exception") as error:
            if not is_unknown_call(error):
                raise
            client.lists_in_bulk = False
            return {}
    for children in found.values():
        if children:
            children.sort(key=attrgetter("path"))
    return found


def _take_part(
    client: HadoopClient, part: Any, by_listed: dict[str, str], found: dict[str, list[FileStatus] | None]
) -> None:
    path = by_listed[client.from_java(part.getListedPath())]
    try:
        statuses = part.get()
    except java_class("java.io.IOException") as error:
        if not is_missing(error):
            raise as_ours(error, client.root, path) from None
        found[path] = None
        return
    known = found[path]
    if known is not None:
        known.extend(_children(client, path, statuses))


def _children(client: HadoopClient, path: str, statuses: Iterable[Any]) -> list[FileStatus]:
    found = list(statuses)
    if len(found) == 1 and client.from_java(found[0].getPath()) == path:
        raise Refused(f"{path}: cannot be listed", found="a file", expected="a directory")
    above = path.rstrip("/")
    children = [to_status(client, f"{above}/{status.getPath().getName()}", status) for status in found]
    return sorted(children, key=attrgetter("path"))

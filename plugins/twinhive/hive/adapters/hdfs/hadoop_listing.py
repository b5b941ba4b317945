"""List many directories in few calls."""

from collections.abc import Iterable, Iterator, Sequence
from operator import attrgetter
from typing import Any

from twinhive.core.model.errors import Refused
from twinhive.core.model.files import FileStatus, base_name, name_order
from twinhive.hive.adapters.hdfs.hadoop_client import HadoopClient
from twinhive.hive.adapters.hdfs.hadoop_errors import as_ours, is_missing, is_unknown_call, translated
from twinhive.hive.adapters.hdfs.hadoop_statuses import to_statuses
from twinhive.hive.adapters.jvm.java_vm import java_class

# HDFS refuses more in one call (dfs.namenode.batched.listing.limit).
_DIRECTORIES_PER_CALL = 100
_PAGE = 1000

ListedDirectory = tuple[str, list[FileStatus] | None]


def list_directories(client: HadoopClient, paths: Iterable[str]) -> Iterator[ListedDirectory]:
    """Yield the sorted children of each directory in the given order, None for a missing one."""
    for chunk in _chunks(paths):
        found: dict[str, list[FileStatus] | None] = {}
        for path, page in _list_chunk(client, chunk):
            found[path] = page if page is None else [*(found.get(path) or ()), *page]
        for path, children in found.items():
            yield path, children if children is None else sorted(children, key=attrgetter("path"))


def list_pages(client: HadoopClient, paths: Iterable[str]) -> Iterator[ListedDirectory]:
    """Yield the children of each directory in pages that together have the order of `name_order`.

    Directories come in the given order, an empty one as one empty page, a missing one as None.
    """
    for chunk in _chunks(paths):
        yield from _list_chunk(client, chunk)


def _chunks(paths: Iterable[str]) -> Iterator[list[str]]:
    """Yield what is listed by one call: directories that differ, as pages are told apart by them."""
    chunk: dict[str, None] = {}
    for path in paths:
        if path in chunk or len(chunk) == _DIRECTORIES_PER_CALL:
            yield list(chunk)
            chunk = {}
        chunk[path] = None
    if chunk:
        yield list(chunk)


def _list_chunk(client: HadoopClient, paths: Sequence[str]) -> Iterator[ListedDirectory]:
    if client.is_hdfs and client.lists_in_bulk:
        yield from _list_together(client, paths)
    if not client.is_hdfs or not client.lists_in_bulk:
        for path in paths:
            yield from _list_one(client, path)


def _list_together(client: HadoopClient, paths: Sequence[str]) -> Iterator[ListedDirectory]:
    """Yield pages as the server gives them, one directory after the other; nothing from old servers."""
    directories = java_class("java.util.ArrayList")()
    by_listed = {}
    for path in paths:
        java_path = client.to_java(path)
        by_listed[client.from_java(java_path)] = path
        directories.add(java_path)
    # The iterator's own calls fail as a whole; what one directory alone suffers is in its part.
    with translated(client.root, f"{paths[0]} and {len(paths) - 1} more"):
        try:
            parts = client.java.batchedListStatusIterator(directories)
            while parts.hasNext():
                part = parts.next()
                path = by_listed[client.from_java(part.getListedPath())]
                yield path, _page(client, path, part)
        except java_class("java.lang.Exception") as error:
            if not is_unknown_call(error):
                raise
            client.lists_in_bulk = False


def _page(client: HadoopClient, path: str, part: Any) -> list[FileStatus] | None:
    try:
        statuses = part.get()
    except java_class("java.io.IOException") as error:
        if is_missing(error):
            return None
        raise as_ours(error, client.root, path) from None
    return _children(client, path, statuses)


def _list_one(client: HadoopClient, path: str) -> Iterator[ListedDirectory]:
    """Yield one directory: on HDFS in pages, elsewhere as a whole, which is sorted here."""
    with translated(client.root, path):
        try:
            if client.is_hdfs:
                found = client.java.listStatusIterator(client.to_java(path))
            else:
                found = java_class("java.util.Arrays").asList(client.java.listStatus(client.to_java(path)))
        except java_class("java.io.FileNotFoundException"):
            yield path, None
            return
        if not client.is_hdfs:
            yield path, sorted(_children(client, path, found), key=lambda child: name_order(base_name(child.path)))
            return
        page = _page_of(found)
        yield path, _children(client, path, page)
        while not (page := _page_of(found)).isEmpty():
            yield path, _children(client, path, page)


def _page_of(iterator: Any) -> Any:
    page = java_class("java.util.ArrayList")()
    while page.size() < _PAGE and iterator.hasNext():
        page.add(iterator.next())
    return page


def _children(client: HadoopClient, path: str, statuses: Any) -> list[FileStatus]:
    if statuses.size() == 1 and client.from_java(statuses.get(0).getPath()) == path:
        raise Refused(
            f"{path}: cannot be listed",
            found="a file",
            expected="a directory",
            next_step="move the file away, or name the directory that is meant, then run again",
        )
    return to_statuses(client, path, statuses)

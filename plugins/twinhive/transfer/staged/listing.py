"""List the files below many directories, level by level, in bulk calls."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import TypeVar

from twinhive.core.model.files import FileStatus, base_name, is_hidden, join
from twinhive.core.ports import FileReader

Owner = TypeVar("Owner")


def list_files(
    files: FileReader, roots: Sequence[tuple[Owner, str]], on_missing: Callable[[Owner], object] = lambda owner: None
) -> Iterator[tuple[Owner, str, FileStatus]]:
    """Yield (owner, path relative to its root, status) for every file below the roots.

    `roots` pairs an owner with its directory. Names that start with `_` or `.` are skipped at
    every level, as Hive's readers do: they are markers and unfinished writes. A root that does
    not exist has no files; its owner is told to `on_missing`.
    """
    level = [(owner, "", directory) for owner, directory in roots]
    while level:
        owners: dict[str, list[tuple[Owner, str]]] = {}
        for owner, relative, directory in level:
            owners.setdefault(directory, []).append((owner, relative))
        level = []
        for owner, path, entry in _entries(files, owners, on_missing):
            if entry.is_directory:
                level.append((owner, path, entry.path))
            else:
                yield owner, path, entry


def files_below(files: FileReader, places: Mapping[Owner, str]) -> dict[Owner, dict[str, FileStatus]]:
    """Return the files below directories by their paths there, as `list_files` finds them, for each owner."""
    found: dict[Owner, dict[str, FileStatus]] = {owner: {} for owner in places}
    for owner, relative, status in list_files(files, list(places.items())):
        found[owner][relative] = status
    return found


def list_each(
    files: FileReader, roots: Sequence[tuple[Owner, str]]
) -> Iterator[tuple[Owner, Iterator[tuple[str, FileStatus]]]]:
    """Yield each owner with its files, as `list_files` finds them: one owner after the other, in their order.

    Nothing is held but a page. The files of one are to be taken before the next is asked for.
    """
    start = 0
    for end in range(1, len(roots) + 1):
        # Pages are told apart by their directories: two of one directory are not listed together.
        if end == len(roots) or roots[end][1] == roots[end - 1][1]:
            pages = groupby(files.list_pages([directory for _, directory in roots[start:end]]), itemgetter(0))
            for (owner, _), (_, some) in zip(roots[start:end], pages, strict=True):
                yield owner, _below(files, (entry for _, page in some for entry in page or ()))
            start = end


def _below(files: FileReader, entries: Iterator[FileStatus]) -> Iterator[tuple[str, FileStatus]]:
    directories = []
    for entry in entries:
        name = base_name(entry.path)
        if not is_hidden(name):
            if entry.is_directory:
                directories.append((name, entry.path))
            else:
                yield name, entry
    for directory, relative, entry in list_files(files, directories):
        yield join(directory, relative), entry


def _entries(
    files: FileReader, owners: Mapping[str, Sequence[tuple[Owner, str]]], on_missing: Callable[[Owner], object]
) -> Iterator[tuple[Owner, str, FileStatus]]:
    """Yield what readers see in some directories, page by page: one may hold a million files."""
    for directory, page in files.list_pages(owners):
        if page is None:
            for owner, relative in owners[directory]:
                if not relative:
                    on_missing(owner)
        for entry in page or ():
            name = base_name(entry.path)
            for owner, relative in () if is_hidden(name) else owners[directory]:
                yield owner, join(relative, name) if relative else name, entry

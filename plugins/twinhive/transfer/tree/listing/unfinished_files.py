"""Copy nothing that a running job of the source has not finished: it is left out as if it were not there."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar, cast

from twinhive.core.model.files import base_name, is_unfinished
from twinhive.core.ports import TreeReader
from twinhive.transfer.tree.listing.lister import Page
from twinhive.transfer.tree.request import SyncOptions

Source = TypeVar("Source", bound=TreeReader)


def finished_only(source: Source, options: SyncOptions) -> Source:
    """Return the source as a copy with these options sees it; what the target has of the rest it may delete."""
    return cast(Source, _FinishedOnly(source)) if options.skip_unfinished else source


def left_out(options: SyncOptions) -> Callable[[str], bool]:
    """Return what is true for the relative paths that a copy with these options leaves out."""
    return _is_below_unfinished if options.skip_unfinished else lambda path: False


def _is_below_unfinished(path: str) -> bool:
    return any(map(is_unfinished, path.split("/")))


class _FinishedOnly:
    def __init__(self, source: TreeReader) -> None:
        self._source = source

    def __getattr__(self, name: str) -> Any:
        return getattr(self._source, name)

    def list_pages(self, paths: Sequence[str]) -> Iterator[tuple[str, Page]]:
        for path, page in self._source.list_pages(paths):
            yield path, page and [child for child in page if not is_unfinished(base_name(child.path))]

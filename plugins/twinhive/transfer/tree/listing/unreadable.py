"""What the source does not let us read from everything else that is refused."""

from typing import Any, cast

from twinhive.core.model.errors import Refused, Unexplained
from twinhive.core.model.files import ChecksumForm
from twinhive.core.ports import TreeReader


class SourceUnreadable(Refused):
    """The source does not let us read a file or directory, whoever asks again."""


def marking_unreadable(source: TreeReader) -> TreeReader:
    """Return the same file system, whose refusals of what a copy reads are SourceUnreadable."""
    return cast(TreeReader, _Marking(source))


class _Marking:
    def __init__(self, source: TreeReader) -> None:
        self._source = source

    def __getattr__(self, name: str) -> Any:
        return getattr(self._source, name)

    def open(self, path: str, *, offset: int = 0, verified: bool = True) -> Any:
        try:
            return self._source.open(path, offset=offset, verified=verified)
        except Refused as error:
            raise _unreadable(error) from error

    def checksum(self, path: str, form: ChecksumForm, *, length: int | None = None) -> str | None:
        try:
            return self._source.checksum(path, form, length=length)
        except Refused as error:
            raise _unreadable(error) from error

    def checksum_type(self, path: str) -> str:
        try:
            return self._source.checksum_type(path)
        except Refused as error:
            raise _unreadable(error) from error

    def acl(self, path: str) -> tuple[str, ...]:
        try:
            return self._source.acl(path)
        except Refused as error:
            raise _unreadable(error) from error

    def extended_attributes(self, path: str) -> dict[str, bytes]:
        try:
            return self._source.extended_attributes(path)
        except Refused as error:
            raise _unreadable(error) from error


def _unreadable(error: Refused) -> Refused:
    if isinstance(error, Unexplained):
        # Nobody knows that it cannot be read: it is not left out, but tried again.
        return error
    return SourceUnreadable(error.what, found=error.found, expected=error.expected, next_step=error.next_step)

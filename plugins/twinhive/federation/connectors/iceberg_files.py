"""Where the newest metadata of an Iceberg table lies, found in its directory, and its content."""

import re
import zlib
from typing import Final

from twinhive.core.model.errors import Missing
from twinhive.core.model.files import FileStatus
from twinhive.core.ports.file_systems import FileReader
from twinhive.federation.connectors.client_refusals import NothingFound, RefusedCall

MOST_METADATA_BYTES: Final = 64 << 20
_METADATA: Final = re.compile(r"(?:v(?P<plain>\d{1,9})|(?P<unique>\d{1,9})-[^/]+)(?:\.gz)?\.metadata\.json(?:\.gz)?")
_FILE: Final = re.compile(r"\.metadata\.json(?:\.gz)?$")


def newest_metadata(files: FileReader, path: str) -> FileStatus:
    """Return the newest metadata file below a table's path. Raises NothingFound, RefusedCall.

    A path of a metadata file is taken as it is. Without a catalog nobody can tell two files of one version apart.
    """
    if _FILE.search(path):
        return _status(files, path)
    ((_, listed),) = files.list_directories([f"{path.rstrip('/')}/metadata"])
    found: dict[int, list[FileStatus]] = {}
    for status in listed or ():
        if match := _METADATA.fullmatch(status.path.rpartition("/")[2]):
            found.setdefault(int(match["plain"] or match["unique"]), []).append(status)
    if not found:
        raise NothingFound("no Iceberg table", found=f"no metadata below {path}/metadata", expected="*.metadata.json")
    newest = found[max(found)]
    if len(newest) > 1:
        raise RefusedCall(
            "nobody can tell which metadata of an Iceberg table is the newest",
            found=", ".join(sorted(status.path for status in newest)),
            expected="one of that version; name the file itself, or the table's catalog",
        )
    return newest[0]


def metadata_text(files: FileReader, path: str) -> str:
    """Return what a metadata file says. Raises NothingFound, RefusedCall."""
    if _status(files, path).length > MOST_METADATA_BYTES:
        raise _too_large(path)
    try:
        content = files.read(path)
    except Missing as error:
        raise NothingFound("an Iceberg table's metadata is not there", found=path) from error
    try:
        return _unpacked(content, path).decode("utf-8")
    except (zlib.error, UnicodeDecodeError) as error:
        raise RefusedCall("an Iceberg table's metadata cannot be read", found=f"{path}: {error}") from error


def _status(files: FileReader, path: str) -> FileStatus:
    status = files.status(path)
    if status is None or status.is_directory:
        raise NothingFound("an Iceberg table's metadata is not there", found=path)
    return status


def _unpacked(content: bytes, path: str) -> bytes:
    if content[:2] != b"\x1f\x8b":
        return content
    unpacking = zlib.decompressobj(zlib.MAX_WBITS | 16)
    text = unpacking.decompress(content, MOST_METADATA_BYTES)
    if unpacking.unconsumed_tail:
        raise _too_large(path)
    return text


def _too_large(path: str) -> RefusedCall:
    return RefusedCall(
        "an Iceberg table's metadata is too large", found=path, expected=f"{MOST_METADATA_BYTES:,} bytes"
    )

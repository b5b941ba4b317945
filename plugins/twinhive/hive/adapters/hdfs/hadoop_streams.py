"""Move the bytes of one file: from an open one into a new one, or behind the end of one."""

import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import Any

from twinhive.core.model.files import Creation
from twinhive.hive.adapters.hdfs.hadoop_client import HadoopClient
from twinhive.hive.adapters.hdfs.hadoop_errors import translated
from twinhive.hive.adapters.jvm.java_vm import java_class

_BUFFER = 64 * 1024
_PIECE = 1024 * 1024

CountBytes = Callable[[int], None]
_of_thread = threading.local()


@dataclass(frozen=True)
class OpenFile:
    """A file of any file system, open for reading."""

    root: str
    path: str
    java: Any

    @classmethod
    def of(cls, client: HadoopClient, path: str, offset: int) -> "OpenFile":
        """Open a file. Raises Missing."""
        with translated(client.root, path):
            java = client.java.open(client.to_java(path), _BUFFER)
            if offset:
                java.seek(offset)
            return cls(client.root, path, java)

    def close(self) -> None:
        """Close it; nothing is to be said of a file that was only read."""
        with suppress(java_class("java.lang.Exception")):
            self.java.close()


def create(client: HadoopClient, path: str, how: Creation) -> Any:
    """Create a file with one call of the server; on HDFS its permission is `how`'s less the client's umask."""
    java, java_path = client.java, client.to_change(path)
    replication = how.replication or java.getDefaultReplication(java_path)
    block_size = how.block_size or java.getDefaultBlockSize(java_path)
    if not client.is_hdfs:
        stream = java.create(java_path, False, _BUFFER, replication, block_size)
        if how.permission is not None:
            java.setPermission(java_path, _permission(how.permission))
        return stream
    permission = _file_permission(how.permission)
    return java.create(
        java_path, permission, _create_flags(), _BUFFER, replication, block_size, None, _checksum_option(how.checksum)
    )


def file_id(client: HadoopClient, stream: Any) -> int:
    """Return the id of the file that a stream of HDFS writes, without a call of the server; else 0."""
    return int(stream.getWrappedStream().getFileId()) if client.is_hdfs else 0


def new_checksum(client: HadoopClient, how: Creation) -> Any:
    """Return Java's checksum of the kind that will guard the blocks of a new file, None where there is none."""
    if not client.is_hdfs:
        return None
    kind = how.checksum.partition("/")[0] or str(client.java.getConf().get("dfs.checksum.type", "CRC32C"))
    return java_class(f"java.util.zip.{kind}")() if kind in ("CRC32", "CRC32C") else None


def pump(source: OpenFile, target: Any, checksum: Any, length: int | None, meter: CountBytes | None) -> int:
    """Copy what `source` holds, or its next `length` bytes; feed Java's `checksum` with them; return how many."""
    buffer = _buffer()
    done = 0
    while True:
        wanted = _PIECE if length is None else min(_PIECE, length - done)
        with translated(source.root, source.path):
            count = source.java.readNBytes(buffer, 0, wanted)
        if count:
            if meter:
                meter(count)
            if checksum is not None:
                checksum.update(buffer, 0, count)
            target.write(buffer, 0, count)
            done += count
        if count < _PIECE:
            return done


def digest_of(source: OpenFile) -> str:
    """Read what `source` holds, close it, and return its SHA-256 in hex."""
    digest, buffer = java_class("java.security.MessageDigest").getInstance("SHA-256"), _buffer()
    try:
        while True:
            with translated(source.root, source.path):
                count = source.java.readNBytes(buffer, 0, _PIECE)
            digest.update(buffer, 0, count)
            if count < _PIECE:
                return bytes(digest.digest()).hex()
    finally:
        source.close()


def _buffer() -> Any:
    """Return this thread's buffer: a new one for each file would be most of the work of a small file."""
    if getattr(_of_thread, "buffer", None) is None:
        _of_thread.buffer = java_class("byte[]")(_PIECE)
    return _of_thread.buffer


@cache
def _permission(mode: int) -> Any:
    return java_class("org.apache.hadoop.fs.permission.FsPermission").createImmutable(mode)


@cache
def _file_permission(mode: int | None) -> Any:
    if mode is None:
        return java_class("org.apache.hadoop.fs.permission.FsPermission").getFileDefault()
    return _permission(mode)


@cache
def _create_flags() -> Any:
    return java_class("java.util.EnumSet").of(java_class("org.apache.hadoop.fs.CreateFlag").CREATE)


@cache
def _checksum_option(checksum: str) -> Any:
    """Return Hadoop's option for `CRC32C/512`, None for ''."""
    if not checksum:
        return None
    kind, _, size = checksum.partition("/")
    kinds = java_class("org.apache.hadoop.util.DataChecksum$Type")
    return java_class("org.apache.hadoop.fs.Options$ChecksumOpt")(kinds.valueOf(kind), int(size))

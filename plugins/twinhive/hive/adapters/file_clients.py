"""Decide which client opens a file system, by its root: the only place that does."""

from collections.abc import Iterable
from contextlib import suppress

from twinhive.core.model.endpoints import FileSystemEndpoint
from twinhive.core.model.errors import TwinhiveError
from twinhive.core.ports import FileReader
from twinhive.hive.adapters.hdfs.hadoop_fs import HadoopFiles
from twinhive.hive.adapters.jvm.java_vm import start

FileClient = HadoopFiles
"""What every client can do; it is closed by `close`."""


def open_files(side: FileSystemEndpoint) -> FileClient:
    """Return a client of a file system; nothing is called yet."""
    return HadoopFiles(side.root, side.properties, side.user)


def start_clients(opened: Iterable[FileReader]) -> None:
    """Start what file systems are asked through: that it takes seconds is not a server's fault. Raises nothing."""
    if any(isinstance(one, HadoopFiles) for one in opened):
        with suppress(TwinhiveError):  # each file system says it better
            start()

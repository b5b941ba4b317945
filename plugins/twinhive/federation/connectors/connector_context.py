"""What connectors get from outside."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from twinhive.core.ports.file_systems import FileReader


@dataclass(frozen=True)
class ConnectorContext:
    """Files by the names that definitions use, readers of file systems by a path, and seconds for connecting.

    `file_of` raises InvalidSettings for a name that is not allowed; `files_at` for a file system that nobody knows.
    """

    file_of: Callable[[str], Path]
    files_at: Callable[[str], FileReader]
    connect_seconds: float = 2.0

"""Read and write small JSON files as a whole."""

import json
from collections.abc import Callable
from typing import Any

from twinhive.core.ports import FileReader, FileWriter, if_there


def as_json(value: dict[str, Any], default: Callable[[object], object] | None = None) -> bytes:
    """Return what such a file holds, readable."""
    return json.dumps(value, indent=1, ensure_ascii=False, default=default).encode("utf-8", "surrogatepass")


def write_json(files: FileWriter, path: str, value: dict[str, Any]) -> None:
    """Write a small JSON file."""
    files.write(path, as_json(value))


def read_json(files: FileReader, path: str) -> dict[str, Any] | None:
    """Read a small JSON file, or None when it does not exist."""
    content = if_there(files.read, path)
    return None if content is None else json.loads(content)

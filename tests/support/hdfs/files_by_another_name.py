"""Be the same file system for those who call it by another name, as users do who write to a NameNode's address."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from twinhive.core.model.file_system_names import OneFileSystem
from twinhive.core.model.files import FileStatus


class FilesByAnotherName:
    """Take paths by the other name and by the real one; tell paths by the other."""

    def __init__(self, files: Any, root: str) -> None:
        self._files = files
        self.root = root
        self._known = OneFileSystem(files.root, (root,))
        self._told = OneFileSystem(root, (files.root,))

    def __getattr__(self, name: str) -> Any:
        there = getattr(self._files, name)
        if not callable(there):
            return there

        def call(*args: Any, **kwargs: Any) -> Any:
            given = (_each(one, self._known.named) for one in args)
            return _each(there(*given, **kwargs), self._told.named)

        return call


def _each(value: Any, named: Callable[[str], str]) -> Any:
    """Put another name into each path within a value."""
    if isinstance(value, str):
        return named(value)
    if isinstance(value, FileStatus):
        return replace(value, path=named(value.path))
    if isinstance(value, list | tuple):
        return type(value)(_each(one, named) for one in value)
    return value

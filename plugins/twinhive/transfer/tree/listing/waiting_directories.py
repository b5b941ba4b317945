"""The directories that are still to be listed: a few in memory, a million in a file."""

from dataclasses import dataclass
from tempfile import SpooledTemporaryFile

from twinhive.core.model.files import FileStatus
from twinhive.transfer.tree.tree_actions import ActionKind, FileAction

_IN_MEMORY = 2000
_BLOCK = 1000
_SPOOLED = 1024 * 1024


@dataclass(eq=False, slots=True)
class WaitingDirectory:
    """A directory of the source that is to be listed, and its place at the target.

    relative   path below the base
    source     status at the source; its path is what is listed
    target     what is in its place, or what an earlier run has built of it
    new_root   as in an action: the topmost new directory that it is in
    root       characters of `relative` that say which source it is of; filters count from there
    included   a filter takes all that is in it
    above      the directory that it is in, as long as that is not planned
    is_planned it exists or will be made
    """

    relative: str
    source: FileStatus
    target: FileStatus | None
    new_root: str | None
    root: int = 0
    included: bool = True
    above: "WaitingDirectory | None" = None
    is_planned: bool = False

    @property
    def is_root(self) -> bool:
        """True for a source itself."""
        return len(self.relative) <= self.root

    def path_of(self, name: str) -> str:
        """Return the relative path of a child."""
        return f"{self.relative}/{name}" if self.relative else name


class WaitingDirectories:
    """Directories, the newest first."""

    def __init__(self) -> None:
        self._newest: list[WaitingDirectory] = []
        # Older ones are in a file, in blocks of which the last one is the newest.
        self._file = SpooledTemporaryFile(max_size=_SPOOLED)  # noqa: SIM115 (it lives as long as the walk)
        self._blocks: list[tuple[int, list[WaitingDirectory | None]]] = []

    def __len__(self) -> int:
        return len(self._newest) + _BLOCK * len(self._blocks)

    def push(self, directory: WaitingDirectory) -> None:
        """Put a directory before all others."""
        self._newest.append(directory)
        if len(self._newest) > _IN_MEMORY:
            self._put_away(self._newest[:_BLOCK])
            del self._newest[:_BLOCK]

    def pop(self, most: int) -> list[WaitingDirectory]:
        """Take the newest directories out, at least one when there is one."""
        if not self._newest and self._blocks:
            self._newest = self._fetch()
        taken = self._newest[: -most - 1 : -1]
        del self._newest[-most:]
        return taken

    def close(self) -> None:
        """Delete the file."""
        self._file.close()

    def _put_away(self, directories: list[WaitingDirectory]) -> None:
        """Write directories; those above that are not planned yet stay in memory, as they can still change."""
        above = list({id(each.above): each.above for each in directories}.values())
        place = {id(each): number for number, each in enumerate(above)}
        lines = (
            f"{each.root} {int(each.included)} {int(each.is_planned)} {place[id(each.above)]} {_line(each)}"
            for each in directories
        )
        start = self._file.seek(0, 2)
        self._file.write("\n".join(lines).encode("ascii"))
        self._blocks.append((start, above))

    def _fetch(self) -> list[WaitingDirectory]:
        start, above = self._blocks.pop()
        self._file.seek(start)
        lines = self._file.read().decode("ascii").split("\n")
        self._file.truncate(start)
        return [_directory(line, above) for line in lines]


def _line(directory: WaitingDirectory) -> str:
    return FileAction(
        ActionKind.MAKE_DIRECTORY, directory.relative, directory.source, directory.new_root, directory.target
    ).to_line()


def _directory(line: str, above: list[WaitingDirectory | None]) -> WaitingDirectory:
    root, included, is_planned, place, rest = line.split(" ", 4)
    action = FileAction.from_line(rest)
    assert action.source is not None
    return WaitingDirectory(
        action.relative,
        action.source,
        action.target,
        action.new_root,
        root=int(root),
        included=included == "1",
        above=above[int(place)],
        is_planned=is_planned == "1",
    )

"""Find the files of a source's functions, and bring them to the replica, each compared with its source."""

import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from twinhive.core.model.errors import ActNow, Missing, Refused, Unexplained
from twinhive.core.model.files import ChecksumForm, FileStatus, base_name, is_below, join, qualified
from twinhive.core.model.objects import Function
from twinhive.core.model.policy import Policy
from twinhive.core.model.text import Text
from twinhive.core.ports import FileReader, FileWriter, Lease, rename_into
from twinhive.transfer.engine.transfer import Transfer
from twinhive.transfer.staged.staged_files import unfinished_directory

DIRECTORY = "_functions"
ORIGINAL = "user.original-loc"
"""Attribute by which Hive's change manager says where a file that it keeps was."""
_AGAIN = "then drop the function at the source and create it again"


class LeftOut(ActNow):
    """A function whose files cannot be brought over: the replica does without it, and it is said."""


class UnexplainedLeftOut(LeftOut, Unexplained):
    """The same, for an answer that nobody knows: who has tries left asks again first."""


@dataclass(frozen=True)
class FunctionSources:
    """The files that functions of a source name.

    Who creates a function there must not make us read what he may not: only files in the policy's directories are
    looked at. `kept_in` returns the directory of the source's change manager.
    """

    files: FileReader
    policy: Policy
    kept_in: Callable[[], str | None] = lambda: None

    def find(self, function: Function, uri: str) -> FileStatus:
        """Return the file, or what the change manager keeps of it. Raises LeftOut."""
        directories = self.policy.options.function_directories
        if not any(is_below(uri, self._full(directory)) for directory in directories) or _climbs(uri):
            raise _left_out(
                function,
                f"its file {uri} is outside of the directories that such files are read from",
                found=uri,
                expected=f"a file in {', '.join(directories)}",
                next_step=f"put the file there, or add its directory to options.function_directories; {_AGAIN}",
            )
        try:
            found = self._readable(uri) or self._kept(uri)
        except Refused as error:
            raise _unread(function, uri, error) from error
        return self._usable(function, uri, found)

    def all_of(self, function: Function) -> Iterator[tuple[str, FileStatus]]:
        """Yield the files of a function that are on the source's file system, each by its URI. Raises LeftOut."""
        for uri in dict.fromkeys(function.resources):
            if uri.startswith(self.files.root + "/"):
                yield uri, self.find(function, uri)

    def _full(self, directory: str) -> str:
        return qualified(directory, self.files.root)

    def _usable(self, function: Function, uri: str, found: FileStatus | None) -> FileStatus:
        most = self.policy.options.function_file_bytes
        if found is None:
            raise _left_out(
                function,
                f"its file {uri} is gone",
                found="nothing",
                expected="a file there, or in the source's change manager",
                next_step=f"put the file back, {_AGAIN}; Hive refuses to drop it there before a file is at that path",
            )
        if found.is_directory or found.length > most:
            raise _left_out(
                function,
                f"its file {uri} is " + ("a directory" if found.is_directory else f"{found.length} bytes long"),
                found="a directory" if found.is_directory else f"{found.length} bytes",
                expected=f"a file of at most {most} bytes",
                next_step=f"name a smaller file, or raise options.function_file_bytes; {_AGAIN}",
            )
        return found

    def _readable(self, uri: str) -> FileStatus | None:
        """Return a file that may be read, None without one. Raises Refused."""
        found = self.files.status(uri)
        if found is None or found.is_directory:
            return found
        try:
            self.files.checksum(uri, ChecksumForm.IDENTITY)  # asks for the right to read, and reads nothing
        except Missing:
            return None
        return found

    def _kept(self, uri: str) -> FileStatus | None:
        """Return the newest file that the change manager has kept of a path: it copies those of dropped functions."""
        directory, newest = self.kept_in(), None
        if not directory:
            return None
        beginning = base_name(uri) + "_"
        for _, page in self.files.list_pages([directory]):
            for child in page or ():
                if base_name(child.path).startswith(beginning) and self._was_at(uri, child):
                    newest = child if newest is None or newest.modified_ms < child.modified_ms else newest
        return newest

    def _was_at(self, uri: str, kept: FileStatus) -> bool:
        try:
            said = self.files.attribute(kept.path, ORIGINAL) or ""
        except Missing:
            return False
        return said.removeprefix(self.files.root) == uri.removeprefix(self.files.root)


@dataclass(frozen=True)
class FunctionFiles:
    """The copies of functions' files on a replica, below `root`."""

    sources: FunctionSources
    files: FileWriter
    lease: Lease
    root: str

    def bring(self, function: Function, event_id: int) -> tuple[str, ...]:
        """Return a function's resources as the replica has them. Raises LeftOut.

        What is not on the source's file system stays as it is.
        """
        originals = dict(self.sources.all_of(function))
        places = self._places(function, event_id, list(originals))
        for uri, original in originals.items():
            if self.files.status(places[uri]) is None:
                self._copy(original, places[uri])
        return tuple(places.get(uri, uri) for uri in function.resources)

    def _places(self, function: Function, event_id: int, uris: list[str]) -> dict[str, str]:
        """Return a place for each file; of several with one name all but the first are in directories by number."""
        directory = join(self.root, DIRECTORY, f"{function.name}.{event_id}")
        places: dict[str, str] = {}
        for number, uri in enumerate(uris, 1):
            place = join(directory, base_name(uri))
            places[uri] = place if place not in places.values() else join(directory, str(number), base_name(uri))
        return places

    def _copy(self, original: FileStatus, place: str) -> None:
        """Copy a file out of sight, compare it, and give it its name."""
        temporary = join(unfinished_directory(self.sources.policy.staging), uuid.uuid4().hex)
        Transfer(self.sources.files, self.files).copy(original, temporary)
        self.lease.confirm()
        if not rename_into(self.files, temporary, place):
            self.files.delete_file(temporary)


def _climbs(uri: str) -> bool:
    return any(part in ("", ".", "..") for part in uri.partition("://")[2].split("/"))


def _unread(function: Function, uri: str, error: Refused) -> LeftOut:
    if isinstance(error, Unexplained):
        return UnexplainedLeftOut(
            f"function {function.database}.{function.name}: its file {uri} could not be looked at",
            found=error.found or error.what,
            expected="an answer that says whether it is there and may be read",
            next_step=f"see the message and the file system's log; if the function is left out, {_AGAIN}",
        )
    return _left_out(
        function,
        f"its file {uri} may not be read",
        found=error.found,
        expected="a file that the user of twinhive may read",
        next_step=f"let that user read it, {_AGAIN}",
    )


def _left_out(function: Function, why: str, *, found: object, expected: str, next_step: Text) -> LeftOut:
    what = f"function {function.database}.{function.name} is left out: {why}"
    return LeftOut(what, found=found, expected=expected, next_step=next_step)

"""Keep lines that are too many for the memory: written once, read as often as needed, in both directions."""

from collections.abc import Iterator
from tempfile import SpooledTemporaryFile

_IN_MEMORY = 256 * 1024
_LINES_A_WRITE = 1000
_READ = 64 * 1024


class Spool:
    """A list of ASCII lines in a temporary file, or in memory while they are few. Not for several threads."""

    def __init__(self) -> None:
        self._file = SpooledTemporaryFile(max_size=_IN_MEMORY)  # noqa: SIM115 (it lives as long as the plan)
        self._waiting: list[str] = []
        self._lines = 0

    def __len__(self) -> int:
        return self._lines

    def add(self, line: str) -> None:
        """Put a line without line breaks behind the others."""
        self._waiting.append(line)
        self._lines += 1
        if len(self._waiting) >= _LINES_A_WRITE:
            self._write()

    def __iter__(self) -> Iterator[str]:
        position, rest = 0, b""
        for _ in range(self._write(), 0, -_READ):
            self._file.seek(position)
            piece = self._file.read(_READ)
            position += len(piece)
            *lines, rest = (rest + piece).split(b"\n")
            yield from (line.decode("ascii") for line in lines)

    def __reversed__(self) -> Iterator[str]:
        rest = b""
        for end in range(self._write(), 0, -_READ):
            start = max(0, end - _READ)
            self._file.seek(start)
            # Each piece ends in a line that is whole and starts in one that may not be.
            rest, *lines = (self._file.read(end - start) + rest).split(b"\n")
            yield from (line.decode("ascii") for line in reversed(lines) if line)
        if rest:
            yield rest.decode("ascii")

    def close(self) -> None:
        """Delete the temporary file."""
        self._file.close()

    def _write(self) -> int:
        """Write what waits; return the bytes written in all."""
        end = self._file.seek(0, 2)
        if self._waiting:
            self._waiting.append("")
            end += self._file.write("\n".join(self._waiting).encode("ascii"))
            self._waiting.clear()
        return end

"""Count files, directories and bytes."""

from dataclasses import dataclass


@dataclass
class Tally:
    """Count files, directories and the bytes of the files."""

    files: int = 0
    directories: int = 0
    bytes: int = 0

    def add(self, length: int, *, is_directory: bool = False) -> None:
        """Count one more file of so many bytes, or directory."""
        if is_directory:
            self.directories += 1
        else:
            self.files += 1
            self.bytes += length

    def plus(self, other: "Tally") -> "Tally":
        """Return the sum of two."""
        return Tally(self.files + other.files, self.directories + other.directories, self.bytes + other.bytes)

    def __iadd__(self, other: "Tally") -> "Tally":
        self.files += other.files
        self.directories += other.directories
        self.bytes += other.bytes
        return self

"""Ask a file system what time it has: it dates a file that is written for this."""

from twinhive.core.ports.file_systems import FileWriter


def time_at(files: FileWriter, path: str) -> int:
    """Return the time in milliseconds since 1970, by a file that is made for it; 0 where it was gone again at once."""
    files.write(path, b"")
    try:
        status = files.status(path)
    finally:
        files.delete_file(path)
    return 0 if status is None else status.modified_ms

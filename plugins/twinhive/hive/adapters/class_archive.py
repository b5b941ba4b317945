"""Let a Spark driver read its classes from an archive: it starts in half the time (JEP 350, class data sharing).

The second job of a machine writes the archive, which takes some ten seconds more when it has ended well: a machine
that is made for one job never does. Those that begin meanwhile do without. An archive is of one Java and one set of
Spark's jars; Java compares both once more, and goes on without one that does not fit.
"""

import fcntl
import hashlib
import os
import shutil
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

_ROOM = 2**30
"""Bytes that have to be free: an archive takes some 150 MB."""
_OLD = 30 * 86_400
"""Seconds after which the archive of another Java or Spark is taken for one that nobody needs."""
_OTHER_JAVA = b"openj9"
"""What the file `release` of a Java says that has archives of another kind."""
_SILENT = "-Xlog:cds*=off"
"""Java tells of each of hundreds of classes that cannot be archived, in what the job itself says."""


@dataclass
class ClassArchive:
    """What one driver is told: `options` for its Java, '' where there is no archive and none is to be written."""

    options: str
    _written: Path | None = None
    _appears: Path | None = None

    def job_has_succeeded(self) -> None:
        """Let those who come later read what this job has written, if it was to; remove what is long out of use.

        Never raises: the job has done what it was for.
        """
        if self._written is None or self._appears is None or not self._written.exists():
            return
        with suppress(OSError):
            self._written.replace(self._appears)
        for other in self._appears.parent.glob("classes-*"):
            with suppress(OSError):  # another job removes it as well
                if other.stem != self._appears.stem and time.time() - other.stat().st_mtime > _OLD:
                    other.unlink()


@contextmanager
def class_archive(cache: Path, java_home: str, spark_home: str) -> Iterator[ClassArchive]:
    """Read the archive of this Java and this Spark in a directory of ours alone, or be the one that writes it."""
    archive = _archive(cache, java_home, spark_home)
    if archive.exists():
        yield ClassArchive(_reading(archive))
        return
    if not _may_write(archive, java_home, spark_home):
        yield ClassArchive("")
        return
    lock = archive.with_suffix(".lock")
    if not lock.exists():
        lock.touch()  # the second one finds it
        yield ClassArchive("")
        return
    with lock.open("w") as held:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield ClassArchive("")
            return
        for left in archive.parent.glob(f"{archive.stem}.new-*"):
            left.unlink(missing_ok=True)  # of a process that was killed
        written = archive.with_suffix(f".new-{uuid.uuid4().hex}")
        try:
            yield ClassArchive(f"-XX:ArchiveClassesAtExit={written} {_SILENT}", written, archive)
        finally:
            written.unlink(missing_ok=True)


def archive_options(cache: Path, java_home: str, spark_home: str) -> str:
    """Return what lets a Java read the archive that jobs have written, '' without one."""
    archive = _archive(cache, java_home, spark_home)
    return _reading(archive) if archive.exists() else ""


def _may_write(archive: Path, java_home: str, spark_home: str) -> bool:
    """Tell whether there are classes, room, a path that Java's options can name, and a Java that knows them."""
    with suppress(OSError):
        if _OTHER_JAVA in Path(java_home, "release").read_bytes().lower():
            return False
    is_named = not any(character.isspace() for character in str(archive))
    return is_named and Path(spark_home, "jars").is_dir() and shutil.disk_usage(archive.parent).free >= _ROOM


def _reading(archive: Path) -> str:
    return f"-XX:SharedArchiveFile={archive} {_SILENT}"


def _archive(cache: Path, java_home: str, spark_home: str) -> Path:
    """Return the file for a Java and a Spark: another one as soon as either is upgraded."""
    java, spark = Path(java_home), Path(spark_home)
    hashed = hashlib.sha256(f"{java}\0{spark}\0".encode())
    with suppress(OSError):
        hashed.update((java / "release").read_bytes())
    with suppress(OSError), os.scandir(spark / "jars") as jars:
        for jar in sorted(jars, key=lambda one: one.name):
            status = jar.stat()
            hashed.update(f"{jar.name}\0{status.st_size}\0{status.st_mtime_ns}\0".encode())
    return cache / f"classes-{hashed.hexdigest()[:16]}.jsa"

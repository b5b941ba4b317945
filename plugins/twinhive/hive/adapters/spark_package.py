"""Pack what a Spark job needs on executors that have nothing but Python, Java and Spark.

Both files are named by their content, so that a cache directory may be shared, also between
versions, and Spark's own caches of them never go stale.
"""

import hashlib
import importlib.util
import os
import stat
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import twinhive
from twinhive.core.model.errors import ActNow, Refused
from twinhive.core.model.text import Again

_PURE = (
    *("__init__.py", "core/__init__.py", "hive/__init__.py", "runtime/__init__.py"),
    *("core/ports/*.py", "core/model/**/*.py", "core/threads/*.py", "transfer/**/*.py"),
    *(
        "hive/adapters/__init__.py",
        "hive/adapters/jvm/*.py",
        "hive/adapters/hdfs/__init__.py",
        "hive/adapters/hdfs/hadoop_*.py",
    ),
    *("hive/adapters/file_clients.py", "hive/adapters/local/__init__.py", "hive/adapters/local/local_owner.py"),
    *(
        "runtime/spark/__init__.py",
        "runtime/spark/job_outcome.py",
        "runtime/spark/executors.py",
        "runtime/spark/submitter_lock.py",
        "runtime/spark/executor_progress.py",
    ),
    *("runtime/spark/*_job.py", "runtime/spark/copy_settings.py", "runtime/spark/settings_text.py"),
)
# Of drivers, which are where this process is, and have what else these import. They find us in the package alone.
_OF_DRIVERS = {
    "write_partitions": (
        *(
            "core/directory_marks/*.py",
            "spark.py",
            "publishing/__init__.py",
            "publishing/partition_writes/*.py",
            "publishing/sets/*.py",
            "hive/adapters/hive/*.py",
            "runtime/spark/partition_*.py",
            "runtime/spark/write_*.py",
        ),
    ),
    "run_sql": ("runtime/spark/sql_*.py",),
}
# What jpype consists of and what it imports; not all versions need or have all.
_NATIVE_MODULES = ("jpype", "_jpype", "packaging")
_NATIVE_JAR = "org.jpype.jar"
# A zip without times: the same content gives the same bytes.
_NO_TIME = (1980, 1, 1, 0, 0, 0)


def package_cache() -> Path:
    """Return the directory of the packages for executors. Raises Refused when others made it, or may write there."""
    cache = Path(tempfile.gettempdir()) / f"twinhive-spark-{os.getuid()}"
    with suppress(FileExistsError):
        cache.mkdir(mode=0o700)
    # Of the name itself: a link may lead to a directory of ours, and to another one later.
    status = cache.lstat()
    if found := _not_ours_alone(status):
        raise Refused(
            f"others may put code into {cache}, which would run as ours",
            found=found,
            expected=f"a directory of user id {os.getuid()} that no group and no other user may write",
            next_step=f"remove {cache}, or set TMPDIR; then " + Again(),
        )
    return cache


def _not_ours_alone(status: os.stat_result) -> str:
    """Say why others may write into a directory, '' when they may not."""
    if not stat.S_ISDIR(status.st_mode):
        return "a link" if stat.S_ISLNK(status.st_mode) else "no directory"
    if status.st_uid != os.getuid():
        return f"a directory of user id {status.st_uid}"
    writable = status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return f"permissions {stat.S_IMODE(status.st_mode):o}" if writable else ""


def python_package(cache: Path, application: str = "") -> Path:
    """Return a zip of our own modules for an application, for `--py-files`; it is built on first use."""
    top = Path(twinhive.__file__).parent
    files = {path for pattern in (*_PURE, *_OF_DRIVERS.get(application, ())) for path in top.glob(pattern)}
    return _archive(cache, "twinhive", {f"twinhive/{path.relative_to(top)}": path for path in files})


def native_package(cache: Path) -> Path:
    """Return a zip of jpype, for `--archives <zip>#native`; its parts load from a directory only."""
    if importlib.util.find_spec("_jpype") is None:
        raise ActNow(
            "the Python package jpype is not installed here, so it cannot be shipped to executors",
            found="no module _jpype",
            expected="jpype, of the version that requirements.txt names",
            next_step="pip install -r requirements.txt",
        )
    return _archive(cache, "native", dict(_native_files()))


def _native_files() -> Iterator[tuple[str, Path]]:
    for name in _NATIVE_MODULES:
        spec = importlib.util.find_spec(name)
        if spec is None or spec.origin is None:
            continue
        origin = Path(spec.origin)
        if spec.submodule_search_locations:
            yield from _tree(origin.parent)
        else:
            yield origin.name, origin
            if (origin.parent / _NATIVE_JAR).exists():
                yield _NATIVE_JAR, origin.parent / _NATIVE_JAR


def _tree(package: Path) -> Iterator[tuple[str, Path]]:
    for path in package.rglob("*"):
        if path.is_file() and path.suffix != ".pyc":
            yield str(path.relative_to(package.parent)), path


def _archive(cache: Path, name: str, files: dict[str, Path]) -> Path:
    contents = {member: files[member].read_bytes() for member in sorted(files)}
    digest = hashlib.sha256()
    for member, content in contents.items():
        digest.update(f"{member} {len(content)}\n".encode() + content)
    archive = cache / f"{name}-{digest.hexdigest()[:16]}.zip"
    if not archive.exists():
        cache.mkdir(parents=True, exist_ok=True)
        _write(archive, contents)
    return archive


def _write(archive: Path, contents: dict[str, bytes]) -> None:
    """Write beside the final name and rename: another process may be doing the same."""
    handle, unfinished = tempfile.mkstemp(prefix=f".{archive.name}-", dir=archive.parent)
    try:
        with os.fdopen(handle, "wb") as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as zipped:
            for member, content in contents.items():
                information = zipfile.ZipInfo(member, _NO_TIME)
                information.external_attr = 0o644 << 16
                zipped.writestr(information, content, zipfile.ZIP_DEFLATED)
        Path(unfinished).chmod(0o644)
        Path(unfinished).replace(archive)
    except BaseException:
        Path(unfinished).unlink(missing_ok=True)
        raise

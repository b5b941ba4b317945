"""Write the files that are copied: content that no one can compress, the same in every run."""

import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from twinhive.hive.adapters.hdfs.hadoop_client import HadoopClient

_THREADS = 8
_PIECE = 4_000_000
_KB, _MB = 1_000, 1_000_000
_ROOT = "/bench/copy"
_RECORD = ".twinhive/"


@dataclass(frozen=True)
class Workload:
    """So many files of so many bytes each, spread evenly over directories below one."""

    name: str
    directories: int
    files: int
    bytes_each: int

    @property
    def bytes(self) -> int:
        """Return the size of all files."""
        return self.files * self.bytes_each

    @property
    def path(self) -> str:
        """Return the directory of all, on the source."""
        return f"{_ROOT}/{self.name}"

    def names(self) -> Iterator[str]:
        """Yield the files' paths below `path`."""
        for number in range(self.files):
            yield f"d{number % self.directories:04d}/f{number:05d}"

    def __str__(self) -> str:
        return f"{self.name}: {self.files:,} files of {self.bytes_each:,} bytes in {self.directories:,} directories"


SMALL = Workload("S", 100, 3_000, 10 * _KB)
MEDIUM = Workload("M", 10, 200, 4 * _MB)
LARGE = Workload("L", 1, 4, 512 * 2**20)
MANY = Workload("N", 1_000, 10_000, 1 * _KB)


def nearly_nothing(threads: int) -> Workload:
    """Return one small file for each thread: copying them costs what starting costs."""
    return Workload("start", 1, threads, 10 * _KB)


def written(workload: Workload, client: HadoopClient) -> None:
    """Make sure that the files are there; those that an earlier run has left, even changed, will do."""
    summary = _summary(client, workload.path)
    if summary == (workload.files, workload.bytes):
        return
    client.java.delete(client.to_java(f"{client.root}{workload.path}"), True)
    with ThreadPoolExecutor(_THREADS) as pool:
        list(pool.map(lambda name: _write(workload, client, name, seed=name), workload.names()))


def change(workload: Workload, client: HadoopClient, count: int, occasion: str) -> None:
    """Give `count` files other content of the same size, other files and content on each occasion."""
    for name in _random(occasion).sample(list(workload.names()), count):
        _write(workload, client, name, seed=f"{occasion} {name}")


def check_copy(workload: Workload, client: HadoopClient, path: str) -> None:
    """Refuse a copy that has not just these files, in their lengths; our own record of the copy may be beside them."""
    expected = dict.fromkeys(workload.names(), workload.bytes_each)
    copied = {name: length for name, length in _lengths(client, path) if not name.startswith(_RECORD)}
    if copied != expected:
        wrong = sorted(name for name, _ in copied.items() ^ expected.items())
        raise SystemExit(f"{path} has {len(copied)} files, expected {len(expected)}; wrong are {wrong[:5]}")


def _random(seed: str) -> random.Random:
    return random.Random(seed)  # noqa: S311 (content, not a secret)


def _write(workload: Workload, client: HadoopClient, name: str, seed: str) -> None:
    content = _random(seed)
    stream = client.java.create(client.to_java(f"{client.root}{workload.path}/{name}"), True)
    left = workload.bytes_each
    while left:
        stream.write(content.randbytes(min(left, _PIECE)))
        left -= min(left, _PIECE)
    stream.close()


def _summary(client: HadoopClient, path: str) -> tuple[int, int] | None:
    java_path = client.to_java(f"{client.root}{path}")
    if not client.java.exists(java_path):
        return None
    summary = client.java.getContentSummary(java_path)
    return int(summary.getFileCount()), int(summary.getLength())


def _lengths(client: HadoopClient, path: str) -> Iterator[tuple[str, int]]:
    found = client.java.listFiles(client.to_java(f"{client.root}{path}"), True)
    while found.hasNext():
        status = found.next()
        yield client.from_java(status.getPath()).removeprefix(f"{client.root}{path}/"), int(status.getLen())

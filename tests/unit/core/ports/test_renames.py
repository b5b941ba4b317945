"""A rename into a directory that may be missing: what is called, since each call is one round trip for each file."""

import pytest

from tests.support.hdfs.fake_files import InMemoryFiles
from twinhive.core.model.errors import Missing
from twinhive.core.ports import rename_into, rename_or_make

SOURCE, TARGET = "hdfs://west/staging/f", "hdfs://west/w/t/f"


class Counted(InMemoryFiles):
    """Names the calls that write."""

    def __init__(self) -> None:
        super().__init__("hdfs://west")
        self.write(SOURCE, b"rows")
        self.called: list[str] = []

    def make_directories(self, path: str) -> None:
        self.called.append("make")
        super().make_directories(path)

    def rename(self, source: str, target: str) -> bool:
        self.called.append("rename")
        return super().rename(source, target)


@pytest.mark.parametrize("there", [True, False])
def test_the_directory_is_made_first(there: bool) -> None:
    files = Counted()
    if there:
        InMemoryFiles.make_directories(files, "hdfs://west/w/t")
    assert rename_into(files, SOURCE, TARGET)
    assert (files.called, files.read(TARGET)) == (["make", "rename"], b"rows")


def test_a_directory_that_is_there_costs_no_call() -> None:
    files = Counted()
    InMemoryFiles.make_directories(files, "hdfs://west/w/t")
    assert rename_or_make(files, SOURCE, TARGET)
    assert (files.called, files.read(TARGET)) == (["rename"], b"rows")


def test_a_missing_directory_is_made_and_the_rename_repeated() -> None:
    files = Counted()
    assert rename_or_make(files, SOURCE, TARGET)
    assert (files.called, files.read(TARGET)) == (["rename", "make", "rename"], b"rows")


def test_a_target_that_is_there_stays_and_no_directory_is_made() -> None:
    files = Counted()
    files.write(TARGET, b"others")
    assert not rename_or_make(files, SOURCE, TARGET)
    assert (files.called, files.read(TARGET), files.read(SOURCE)) == (["rename"], b"others", b"rows")


def test_a_rename_into_a_missing_directory_says_so() -> None:
    with pytest.raises(Missing):
        Counted().rename(SOURCE, TARGET)

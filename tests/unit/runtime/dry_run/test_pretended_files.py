"""What is pretended to be written is found again by whoever pretends, and by nobody else."""

import pytest

from tests.support.hdfs.fake_files import InMemoryFiles
from twinhive.core.model.errors import Missing
from twinhive.core.model.files import base_name
from twinhive.runtime.dry_run.pretended_files import PretendedFiles

ROOT = "hdfs://east"


@pytest.fixture
def true() -> InMemoryFiles:
    files = InMemoryFiles(ROOT)
    files.write(f"{ROOT}/d/there", b"true")
    files.write(f"{ROOT}/d/sub/f", b"deep")
    return files


@pytest.fixture
def files(true: InMemoryFiles) -> PretendedFiles:
    return PretendedFiles(true)


def names(files: PretendedFiles, path: str) -> list[str] | None:
    ((_, children),) = files.list_directories([path])
    return None if children is None else [base_name(child.path) for child in children]


def test_what_is_written_is_read_and_listed_and_is_not_there_in_truth(
    true: InMemoryFiles, files: PretendedFiles
) -> None:
    before = true.paths()
    files.write(f"{ROOT}/d/new/a", b"1")
    files.write(f"{ROOT}/d/there", b"other")
    assert names(files, f"{ROOT}/d") == ["new", "sub", "there"]
    assert names(files, f"{ROOT}/d/new") == ["a"]
    assert files.read(f"{ROOT}/d/there") == b"other"
    assert files.status(f"{ROOT}/d/new").is_directory
    assert (true.paths(), true.read(f"{ROOT}/d/there")) == (before, b"true")


def test_what_is_deleted_is_gone_and_noted_if_it_was_there_in_truth(true: InMemoryFiles, files: PretendedFiles) -> None:
    files.write(f"{ROOT}/d/new", b"1")
    assert files.delete(f"{ROOT}/d/new") and files.delete(f"{ROOT}/d/sub")
    assert not files.delete(f"{ROOT}/d/sub")
    assert names(files, f"{ROOT}/d") == ["there"]
    assert files.status(f"{ROOT}/d/sub/f") is None
    with pytest.raises(Missing):
        files.read(f"{ROOT}/d/sub/f")
    assert files.deleted == [f"{ROOT}/d/sub"]
    assert true.read(f"{ROOT}/d/sub/f") == b"deep"


def test_what_is_deleted_can_be_written_again(files: PretendedFiles) -> None:
    files.delete(f"{ROOT}/d")
    files.write(f"{ROOT}/d/new", b"1")
    assert names(files, f"{ROOT}/d") == ["new"]


def test_directories_are_found_under_their_new_names(true: InMemoryFiles, files: PretendedFiles) -> None:
    files.write(f"{ROOT}/d/sub/g", b"2")
    assert files.rename(f"{ROOT}/d/sub", f"{ROOT}/e/moved")
    assert names(files, f"{ROOT}/d") == ["there"]
    assert names(files, f"{ROOT}/e/moved") == ["f", "g"]
    assert (files.read(f"{ROOT}/e/moved/f"), files.read(f"{ROOT}/e/moved/g")) == (b"deep", b"2")
    assert true.read(f"{ROOT}/d/sub/f") == b"deep"


def test_a_rename_onto_something_or_of_nothing_is_refused(files: PretendedFiles) -> None:
    assert not files.rename(f"{ROOT}/d/sub", f"{ROOT}/d/there")
    assert not files.rename(f"{ROOT}/nowhere", f"{ROOT}/e")


def test_what_would_write_and_cannot_be_pretended_is_a_mistake_that_shows(files: PretendedFiles) -> None:
    with pytest.raises(NotImplementedError, match="create_from"):
        files.create_from(None, f"{ROOT}/d/x")

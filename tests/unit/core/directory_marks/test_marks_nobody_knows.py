"""Marks as attributes of which nobody knows what becomes: what a file says counts then."""

import pytest

from tests.support.builders import a_policy
from tests.support.hdfs.fake_files import InMemoryFiles
from twinhive.core.directory_marks.directories import MARKER, mark_of
from twinhive.core.directory_marks.staging import claim_staging, own_staging
from twinhive.core.model.errors import Foreign, Unexplained

STAGING = "hdfs://west/staging/sales"
POLICY = a_policy(name="sales", staging_root="hdfs://west/staging")


@pytest.fixture
def files() -> InMemoryFiles:
    return InMemoryFiles("hdfs://west")


def odd_attributes(files: InMemoryFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    def answer_oddly(path: str, *given: object) -> None:
        raise Unexplained(f"{path}: refused")

    monkeypatch.setattr(files, "attribute", answer_oddly)
    monkeypatch.setattr(files, "set_attribute", answer_oddly)


def test_a_new_directory_is_marked_by_a_file_that_is_read(
    files: InMemoryFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    odd_attributes(files, monkeypatch)
    claimed = claim_staging(files, POLICY)
    assert files.status(f"{STAGING}/{MARKER}") is not None
    files.put(f"{STAGING}/of a later version/x", b"x")
    assert claim_staging(files, POLICY) == claimed == own_staging(files, POLICY)


def test_one_of_somebody_else_stays_his(files: InMemoryFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    files.put(f"{STAGING}/{MARKER}", b"staging:other")
    odd_attributes(files, monkeypatch)
    with pytest.raises(Foreign, match="somebody else's"):
        claim_staging(files, POLICY)
    assert own_staging(files, POLICY) is None


def test_an_odd_answer_about_the_file_too_is_raised(files: InMemoryFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    def answer_oddly(path: str) -> bytes:
        raise Unexplained(f"{path}: refused")

    claim_staging(files, POLICY)
    odd_attributes(files, monkeypatch)
    with pytest.raises(Unexplained):
        mark_of(files, STAGING)
    files.put(f"{STAGING}/{MARKER}", b"staging:sales")
    assert mark_of(files, STAGING) == "staging:sales"
    monkeypatch.setattr(files, "read", answer_oddly)
    with pytest.raises(Unexplained):
        mark_of(files, STAGING)

"""A count that has grown is named with what was found, what is kept, and what to do."""

import json
from pathlib import Path

import pytest

from tests.support import kept_counts
from tests.support.kept_counts import WRITE, assert_not_grown, grown


@pytest.fixture(autouse=True)
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep what one run took in a file of its own, which nobody writes unless a test asks for it."""
    monkeypatch.setattr(kept_counts, "_DIRECTORY", tmp_path)
    monkeypatch.delenv(WRITE, raising=False)
    path = tmp_path / "some.json"
    path.write_text(json.dumps({"a run": {"calls": 100, "few": 3}}), encoding="utf-8")
    return path


@pytest.mark.parametrize(("counts", "names"), [({"calls": 102, "few": 3}, []), ({"calls": 103, "few": 4}, [103, 4])])
def test_a_count_may_grow_by_two_per_cent_and_no_more(counts: dict[str, int], names: list[int]) -> None:
    assert [line for line in grown("some", "a run", counts) if " found, " in line] == [
        f"a run: {name}: {found} found, {allowed} kept in some.json"
        for name, found, allowed in zip(("calls", "few"), names, (100, 3), strict=False)
    ]


def test_a_count_and_a_run_that_are_not_kept_have_grown_from_nothing() -> None:
    assert "a run: new: 1 found, 0 kept in some.json" in grown("some", "a run", {"new": 1})
    assert "another: calls: 1 found, 0 kept in some.json" in grown("some", "another", {"calls": 1})
    assert "another: calls: 1 found, 0 kept in other.json" in grown("other", "another", {"calls": 1})


def test_a_failure_lists_what_has_grown_and_says_how_the_file_is_written_again() -> None:
    with pytest.raises(AssertionError) as failure:
        assert_not_grown("some", "a run", {"calls": 200, "few": 3})
    said = str(failure.value)
    assert "a run: calls: 200 found, 100 kept in some.json" in said
    assert f"{WRITE}=1 python -m pytest" in said
    assert "few" not in said


def test_writing_keeps_what_was_found_and_leaves_other_runs_as_they_are(
    kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(WRITE, "1")
    assert grown("some", "another", {"calls": 7}) == []
    assert json.loads(kept.read_text(encoding="utf-8")) == {"a run": {"calls": 100, "few": 3}, "another": {"calls": 7}}
    monkeypatch.delenv(WRITE)
    assert grown("some", "another", {"calls": 7}) == []
    assert grown("some", "another", {"calls": 8}) != []

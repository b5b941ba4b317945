import pytest

from twinhive.core.model.quarantine import frozen_tables, is_frozen, with_frozen, without_frozen

LONG = "x" * 161
NAMES = ["plain", "a/b.c", "x" * 160, LONG, LONG + "y", "日" * 200]


@pytest.mark.parametrize("name", NAMES)
def test_a_frozen_table_is_read_back_and_released(name: str) -> None:
    before = {"team": "a"}
    frozen = with_frozen(with_frozen(before, name, "7 files are lost"), "other", "waits")
    assert frozen_tables(frozen) == {name: "7 files are lost", "other": "waits"}
    assert is_frozen(frozen, name) and not is_frozen(frozen, name + "z")
    assert max(map(len, frozen)) <= 180, "the metastore's column has no more room"
    assert without_frozen(frozen, [name, "other", "third"]) == before


def test_marks_of_earlier_versions_are_known() -> None:
    marks = {"twinhive.quarantine.a.b": "7 lost", "twinhive.policy": "sales"}
    assert frozen_tables(marks) == {"a.b": "7 lost"}
    assert is_frozen(marks, "a.b")

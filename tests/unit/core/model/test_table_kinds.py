"""What each kind of table means to replication, in one table: who adds a kind decides each column."""

import pytest

from twinhive.core.model.objects import TableKind

_ASKED = (
    "why_left_out",
    "has_files",
    "is_all_in_log",
    "has_logged_files",
    "has_comparable_files",
    "has_listed_content",
    "has_plain_files",
)
_NOT_YET = "transactional table: not replicated yet"
_NOT_THERE = "table of a storage handler, a catalog or a list of files: its rows are not in its directory"
_LOG_UNTOLD = "managed table of Delta or Hudi: no event tells of the log that says which files count"
_BUILT_THERE = "materialized view: the replica's Hive has to build it"
_ANSWERS = {
    TableKind.MANAGED: (None, True, True, True, True, True, True),
    TableKind.EXTERNAL: (None, True, False, False, False, True, True),
    TableKind.VIEW: (None, False, True, False, False, False, False),
    TableKind.MATERIALIZED_VIEW: (_BUILT_THERE, False, False, False, False, False, False),
    TableKind.TRANSACTIONAL: (_NOT_YET, True, False, False, False, False, False),
    TableKind.HANDLER: (_NOT_THERE, True, False, False, False, False, False),
    TableKind.OPEN_FORMAT: (_LOG_UNTOLD, True, False, False, False, False, False),
}


@pytest.mark.parametrize("kind", TableKind)
def test_a_kind_says_what_it_means(kind: TableKind) -> None:
    assert tuple(getattr(kind, name) for name in _ASKED) == _ANSWERS[kind]


def test_all_that_a_kind_is_asked_is_here() -> None:
    assert {*_ASKED} == {name for name, value in vars(TableKind).items() if isinstance(value, property)}

"""The unions by which changes are told apart have all kinds of their base class: the type checker names the rest."""

from typing import get_args

import pytest

from twinhive.core.model.changes import kinds


@pytest.mark.parametrize(
    ("union", "base"),
    [
        (kinds.OfDatabases, kinds.DatabaseChange),
        (kinds.OfFunctions, kinds.FunctionChange),
        (kinds.OfDetails, kinds.DetailChange),
    ],
    ids=["databases", "functions", "details"],
)
def test_a_union_has_all_kinds_of_its_base(union: object, base: type) -> None:
    assert set(get_args(union)) == set(base.__subclasses__())
    assert set(get_args(union)) <= set(get_args(kinds.Change))


def test_what_touches_no_table_partition_or_file_is_one_of_these() -> None:
    families = {kinds.DatabaseChange, kinds.FunctionChange, kinds.DetailChange}
    assert set(kinds.NoContent.__subclasses__()) == families | {kinds.NotReplicated}
    bases = {kind.__mro__[1] for kind in get_args(kinds.Change)}
    assert bases == families | {kinds.NoContent, object}

"""A source that cannot be listed is an error, also where what cannot be read is left out: nothing would be copied."""

from typing import Any

import pytest

from tests.unit.transfer.tree.trees import SOURCE, TARGET, Trees
from twinhive.core.model.errors import Refused
from twinhive.transfer.tree.request import SyncOptions, SyncRequest
from twinhive.transfer.tree.tree_dry_run import dry_run

SKIP = {"on_unreadable": "skip"}


@pytest.mark.parametrize("options", [{}, SKIP, {**SKIP, "delete": "trash", "force": True}, {**SKIP, "snapshots": True}])
@pytest.mark.parametrize("exists", [False, True], ids=["a new target", "a target that exists"])
def test_a_source_that_cannot_be_listed_is_refused_and_named(exists: bool, options: dict[str, Any]) -> None:
    trees = Trees(f=b"1")
    if exists:
        trees.put_there("g", b"2")
    before = trees.at_target()
    listed = f"{SOURCE}/.snapshot" if "snapshots" in options else SOURCE
    trees.source.unreadable.add(SOURCE)
    if "snapshots" in options:
        trees.source.unreadable.update(f"{listed}/{name}" for name in snapshots_to_come(trees, **options))
    with pytest.raises(Refused, match=f"{listed}.*: the source itself cannot be listed") as caught:
        trees.sync(**options)
    assert "on_unreadable" not in str(caught.value)
    assert trees.at_target() == before
    trees.assert_clean()


def snapshots_to_come(trees: Trees, **options: Any) -> list[str]:
    """Return the name of the snapshot that a copy would make."""
    twin = Trees(f=b"1")
    for path in trees.at_target():
        twin.put_there(path)
    twin.sync(**options)
    return list(twin.source.snapshots(SOURCE) or ())


def test_one_of_several_sources_that_cannot_be_listed_is_refused() -> None:
    trees = Trees(one__f=b"1", two__f=b"1")
    trees.source.unreadable.add(f"{SOURCE}/two")
    sources = (f"{SOURCE}/one", f"{SOURCE}/two")
    with pytest.raises(Refused, match=f"{SOURCE}/two: the source itself cannot be listed"):
        trees.sync(sources=sources, **SKIP)
    assert trees.sync(**SKIP).unreadable.directories == 1, "below a source it is left out"


def test_what_would_be_done_counts_it() -> None:
    trees = Trees(f=b"1")
    trees.source.unreadable.add(SOURCE)
    rows = dry_run(SyncRequest((SOURCE,), TARGET, SyncOptions.of(SKIP)), trees.source, trees.target)
    assert [row.what for row in rows] == ["unreadable"]

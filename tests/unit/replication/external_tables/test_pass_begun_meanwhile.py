"""A pass that another run has just begun is left alone by one that removes old passes."""

from collections.abc import Iterable, Iterator
from typing import Any

import pytest

from tests.support.worlds.external_world import ExternalWorld
from twinhive.replication.dump.passes.external_passes import remove_old_passes

BEGUN = "pass-000000000099-ffffffff"


def test_a_pass_that_is_begun_while_old_ones_are_removed_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    world = ExternalWorld()
    world.add_table("t", "hdfs://east/data/t")
    world.put("/data/t/f")
    world.listed()
    files, of_passes = world.world.source_files, f"{world.policy.dump_root}/{world.policy.name}/external"
    look = files.list_directories
    ((_, oldest),) = look([of_passes])
    world.listed()

    def begin_after_each_look(paths: Iterable[str]) -> Iterator[Any]:
        asked = list(paths)
        found = list(look(asked))
        if asked == [of_passes]:
            files.put(f"{of_passes}/{BEGUN}/external_locations", b"x")
        return iter(found)

    def removing(*given: Any) -> None:
        with monkeypatch.context() as meanwhile:
            meanwhile.setattr(files, "list_directories", begin_after_each_look)
            remove_old_passes(*given)

    monkeypatch.setattr("twinhive.replication.external_tables.list_external.remove_old_passes", removing)
    world.listed()
    assert files.status(f"{of_passes}/{BEGUN}/external_locations") is not None
    assert oldest and all(files.status(one.path) is None for one in oldest)

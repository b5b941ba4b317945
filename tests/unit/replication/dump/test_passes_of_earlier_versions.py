"""Passes that an earlier version has written are found, opened and removed, and written again byte for byte."""

import json

import pytest

from tests.support.worlds.external_world import ExternalWorld
from tests.support.worlds.kept_worlds import FIXTURES
from twinhive.replication.dump.dump_layout import DumpKind
from twinhive.replication.dump.dump_store import dumps_of, newest_pass, pass_of_name
from twinhive.replication.dump.passes.external_passes import (
    entries_of_task,
    kept_records,
    last_complete_pass,
    locations_of_pass,
    tasks_under_way,
    tried_in_round,
)
from twinhive.replication.dump.passes.pass_manifest import PassManifest

KEPT = json.loads((FIXTURES / "b06f52a7" / "passes.json").read_text(encoding="utf-8"))
"""Files of two passes of one round, the newer one's only task ended, as {side: {path: content}}."""
OLDER, NEWER = "pass-000000000006-6b098893", "pass-000000000006-6b098894"


@pytest.fixture
def left() -> ExternalWorld:
    """The tables that they were listed of, and what they have left."""
    world = ExternalWorld(options={"parallelism": 3, "approx_max_load_tasks": 10, "external_weight": 1})
    for name in ("é a", "b", "c", "d"):
        world.add_table(f"t{name.replace('é a', 'x')}", f"hdfs://east/data/{name}")
        world.put(f"/data/{name}/f")
    for side, files in (("source", world.world.source_files), ("replica", world.world.replica_files)):
        for path, content in KEPT[side].items():
            files.put(path, content.encode())
    return world


def test_they_are_found_and_opened(left: ExternalWorld) -> None:
    dumps, replica = left.world.source_files, left.world.replica_files
    assert [layout.name for layout in dumps_of(dumps, left.policy, DumpKind.EXTERNAL)] == [OLDER, NEWER]
    newest = newest_pass(dumps, left.policy)
    assert newest is not None and newest == pass_of_name(dumps, left.policy, NEWER)
    assert (newest.manifest.event_id, newest.manifest.entries, newest.manifest.others) == (6, 5, 0)
    assert [entry.location for entry in entries_of_task(dumps, left.policy, NEWER, "e0001")] == ["hdfs://east/data/é a"]
    assert len(locations_of_pass(dumps, left.policy, NEWER)) == 5
    assert [record["target"] for record in kept_records(dumps, replica, left.policy)] == [
        f"hdfs://west/ext/data/{name}" for name in ("c", "d", "é a")
    ]
    assert tasks_under_way(dumps, replica, left.policy) == 0
    assert last_complete_pass(dumps, replica, left.policy) == newest.manifest.began
    assert tried_in_round(dumps, replica, left.policy) == frozenset()


def test_they_are_written_again_byte_for_byte(left: ExternalWorld) -> None:
    for path in (path for path in KEPT["source"] if path.endswith("pass.json")):
        kept = left.world.source_files.read(path)
        assert PassManifest.from_json(kept).to_json() == kept


def test_of_still_earlier_versions_what_they_did_not_write_is_not_known(left: ExternalWorld) -> None:
    (path,) = (path for path in KEPT["source"] if path.endswith(f"{NEWER}/pass.json"))
    fields = json.loads(KEPT["source"][path])
    read = PassManifest.from_json(json.dumps({**fields, "begin": None, "end": None}).encode())
    for name in ("begin", "end", "in_scope"):
        del fields[name]
    assert PassManifest.from_json(json.dumps(fields).encode()) == read
    assert (read.begin, read.end, read.in_scope) == (None, None, 6)


def test_they_are_removed_with_their_results_when_there_are_newer_ones(left: ExternalWorld) -> None:
    names = [OLDER, NEWER]
    for _ in range(3):
        names.append(left.listed().dump)
        dumps = [path for path in left.world.source_files.paths() if "/external/pass-" in path]
        assert {path.split("/")[7] for path in dumps} == set(names[-2:])
        results = [path for path in left.world.replica_files.paths() if "/results/" in path]
        assert {path.split("/")[8] for path in results} == {OLDER, NEWER} & set(names[-2:])

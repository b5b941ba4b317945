"""What was written down of moves is carried out only in the directory that is copied to."""

import json

import pytest

from tests.support.hdfs.fake_files import InMemoryFiles
from twinhive.core.model.errors import ActNow
from twinhive.transfer.tree.snapshots.snapshot_renames import finish_moves
from twinhive.transfer.tree.work_directories import Places

BASE = "hdfs://west/data/t"


@pytest.mark.parametrize("place", ["hdfs://west/finance.db/evil", f"{BASE}/../x", f"{BASE}2/x"])
@pytest.mark.parametrize("kind", ["aside", "placed"])
def test_moves_that_lead_elsewhere_are_refused(place: str, kind: str) -> None:
    files, places = InMemoryFiles("hdfs://west"), Places(BASE, is_new=False)
    files.put(f"{BASE}/f", b"1")
    record = f"{places.aside}/moves.json"
    moves = {"aside": [], "placed": []} | {kind: [[f"{BASE}/f", place]]}
    files.put(record, json.dumps(moves).encode())
    with pytest.raises(ActNow, match=r"moves\.json names a path outside"):
        finish_moves(files, places)
    assert files.paths() == sorted([f"{BASE}/f", record])

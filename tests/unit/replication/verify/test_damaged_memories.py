"""What verification remembers counts as nothing where it cannot be read."""

import pytest

from tests.support.builders import a_policy
from tests.support.damaged import DAMAGED
from tests.support.hdfs.fake_files import InMemoryFiles
from twinhive.replication.comparison.leaf_reader import SideRole
from twinhive.replication.verify.ledger_files import LedgerFiles
from twinhive.replication.verify.suspected_damage import read_suspects

POLICY = a_policy()


@pytest.mark.parametrize("content", [b"", b"no gzip", DAMAGED])
def test_damaged_memories_count_as_none(content: bytes) -> None:
    files = InMemoryFiles("hdfs://west")
    ledgers = LedgerFiles(files, POLICY, SideRole.REPLICA, "log")
    files.put(f"{POLICY.staging}/verify/suspects.json.gz", content)
    files.put(ledgers._position_path, content)
    assert read_suspects(files, POLICY) == []
    assert ledgers.read_position() is None

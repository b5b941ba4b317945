"""Files that are named by tables are found again."""

import json

import pytest

from tests.support.builders import a_policy
from tests.support.hdfs.fake_files import InMemoryFiles
from twinhive.core.model.errors import Missing
from twinhive.replication.dump.named_files import NamedFiles
from twinhive.replication.operator_requests.request_files import (
    everything_is_done,
    everything_requested,
    is_paused,
    paused_policies,
    policies_with_requests,
    remove_passed_skips,
    request_everything,
    request_table,
    requested_tables,
    skip_event,
    skipped_events,
    table_is_done,
)

POLICY = a_policy()
CONTROL = f"{POLICY.staging}/control"
DIRECTORY = "hdfs://west/s/named"
NAMED = NamedFiles(DIRECTORY, ".json")


@pytest.fixture
def files() -> InMemoryFiles:
    return InMemoryFiles("hdfs://west")


def name_in(content: bytes) -> str | None:
    return json.loads(content).get("table")


@pytest.mark.parametrize("name", ["plain", "a:b", "50%25", "a/b", "x%41", "~" * 300])
def test_a_file_is_found_by_its_name(files: InMemoryFiles, name: str) -> None:
    NAMED.write(files, name, json.dumps({"table": name}).encode())
    assert NAMED.names(files, name_in) == [name]
    assert NAMED.read(files, name) == json.dumps({"table": name}).encode()
    NAMED.remove(files, name)
    assert NAMED.names(files, name_in) == []
    with pytest.raises(Missing):
        NAMED.read(files, name)


def test_a_file_that_goes_while_all_are_read_is_none(files: InMemoryFiles) -> None:
    class Going(InMemoryFiles):
        def read(self, path: str) -> bytes:
            self.delete_file(path)
            return super().read(path)

    going = Going("hdfs://west")
    NAMED.write(going, "a/b", b'{"table": "a/b"}')
    assert NAMED.names(going, name_in) == []


def test_what_is_being_written_is_no_file(files: InMemoryFiles) -> None:
    files.put(f"{CONTROL}/resync/.orders.json.0123", b"{")
    assert requested_tables(files, POLICY) == ()
    assert policies_with_requests(files, [POLICY]) == frozenset()


def test_one_file_that_cannot_be_read_turns_no_question_red(files: InMemoryFiles) -> None:
    others = a_policy(name="other")
    files.put(f"{CONTROL}/paused.json", b'{"by": "a table called ../paused"}')
    files.put(f"{CONTROL}/skip/x.json", b"{}")
    files.put(f"{CONTROL}/skip/12.json", b"{")
    files.put(f"{CONTROL}/resync/orders.json", b"\xff")
    assert "gives no reason" in str(is_paused(files, POLICY))
    assert paused_policies(files, [POLICY, others]).keys() == {"sales"}
    assert policies_with_requests(files, [POLICY, others]) == {"sales"}
    assert requested_tables(files, POLICY) == ("orders",)
    assert skipped_events(files, POLICY) == {}
    skip_event(files, POLICY, 13, "why", "ann")
    assert skipped_events(files, POLICY) == {13: "why"}
    remove_passed_skips(files, POLICY, 13)
    assert skipped_events(files, POLICY) == {}


def test_a_request_never_leads_out_of_its_directory(files: InMemoryFiles) -> None:
    request_table(files, POLICY, "../paused", "ann")
    assert is_paused(files, POLICY) is None
    assert requested_tables(files, POLICY) == ("../paused",)


@pytest.mark.parametrize("excluded", [(), ("everything",)])
def test_a_request_for_everything_is_one(files: InMemoryFiles, excluded: tuple[str, ...]) -> None:
    policy = a_policy(exclude=excluded)
    request_table(files, policy, "everything", "ann")
    assert policies_with_requests(files, [policy]) == (frozenset() if excluded else {"sales"})
    request_everything(files, policy, "ann")
    assert policies_with_requests(files, [policy]) == {"sales"}
    table_is_done(files, policy, "everything")
    assert policies_with_requests(files, [policy]) == {"sales"}
    everything_is_done(files, policy, everything_requested(files, policy))
    assert policies_with_requests(files, [policy]) == frozenset()

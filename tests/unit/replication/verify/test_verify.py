"""Each kind of damage is found in exactly its leaf; what is equal, or on its way, is never called damaged."""

import gzip
import json
from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.support.hive import metastore_objects as objects
from tests.unit.replication.verify.verifying import Verifying
from twinhive.core.model.errors import InvalidSettings, Missing
from twinhive.core.model.files import join, parent
from twinhive.core.model.names import TableName
from twinhive.core.model.quarantine import with_frozen
from twinhive.operations.actions.replica_status import read_status
from twinhive.replication.comparison.leaf_reader import PARTITIONS_AT_ONCE
from twinhive.replication.operator_requests.request_files import request_table
from twinhive.replication.verify import verification_run
from twinhive.replication.verify.ledger_files import verify_directory
from twinhive.replication.verify.verification_outcome import last_outcome

ORDERS, PLAIN = TableName("sales", "orders"), TableName("sales", "plain")


@pytest.fixture
def verifying() -> Verifying:
    return Verifying()


def file_of(verifying: Verifying, table: TableName, partition: str | None, name: str) -> str:
    replica = verifying.world.replica
    found = replica.table(table) if partition is None else replica.partitions(table, [partition])[0]
    return join(found.location, name)


def write(verifying: Verifying, path: str, content: bytes) -> None:
    """Write a file over another as any client of the file system would: the directory's time changes."""
    files = verifying.world.replica_files
    files.put(path, content)
    files.retime(parent(path))


def remove(verifying: Verifying, path: str) -> None:
    verifying.world.replica_files.delete_file(path)
    verifying.world.replica_files.retime(parent(path))


def test_a_replica_that_follows_is_equal(verifying: Verifying) -> None:
    found = verifying.verify()
    assert found.is_equal, found.lines()
    assert found.event == verifying.world.source.current_event_id()
    assert found.leaves == found.judged > 8
    assert found.headline == f"equal at event {found.event}"


def test_deep_compares_all_checksums(verifying: Verifying) -> None:
    found = verifying.verify(deep=True)
    assert found.is_equal
    assert found.with_files == found.with_checksums == 3


def test_each_leaf_has_its_checksums_compared_in_thirty_nights(verifying: Verifying) -> None:
    shares = []
    for _ in range(30):
        shares.append(verifying.verify().with_checksums)
        verifying.next_night()
    assert shares == sorted(shares)
    assert shares[0] < shares[-1] == 3


Damage = Callable[[Verifying], object]


def flipped(v: Verifying) -> None:
    write(v, file_of(v, ORDERS, "p=a b", "f1"), b"eno")


def added(v: Verifying) -> None:
    write(v, file_of(v, ORDERS, "p=a b", "more"), b"x")


def removed(v: Verifying) -> None:
    remove(v, file_of(v, PLAIN, None, "zero"))


def truncated(v: Verifying) -> None:
    write(v, file_of(v, PLAIN, None, "data"), b"pl")


def partition_missing(v: Verifying) -> None:
    v.world.replica.drop_partitions(ORDERS, ["p=no files"], delete_data=False)


def partition_extra(v: Verifying) -> None:
    there = v.world.replica.partitions(ORDERS, ["p=a b"])[0]
    v.world.replica.add_partitions([replace(there, values=("extra",), location=there.location + "x")])


def partition_parameter(v: Verifying) -> None:
    there = v.world.replica.partitions(ORDERS, ["p=a b"])[0]
    v.world.replica.alter_partitions([there.with_parameters({**there.parameters, "by": "hand"})])


def column(v: Verifying) -> None:
    there = v.world.replica.table(PLAIN)
    v.world.replica.alter_table(PLAIN, replace(there, columns=(("id", "bigint"),)))


def parameter(v: Verifying) -> None:
    there = v.world.replica.table(PLAIN)
    v.world.replica.alter_table(PLAIN, there.with_parameters({**there.parameters, "by": "hand"}))


def constraint(v: Verifying) -> None:
    there = v.world.replica.table(PLAIN)
    v.world.replica.add_constraints(PLAIN, "unique", [objects.a_constraint(there, "unique", "by_hand")])


def view_text(v: Verifying) -> None:
    name = TableName("sales", "recent")
    there = v.world.replica.table(name)
    v.world.replica.alter_table(name, replace(there, columns=(("other", "int"),)))


def table_missing(v: Verifying) -> None:
    v.world.replica.drop_table(TableName("sales", "empty"), delete_data=False)


def table_extra(v: Verifying) -> None:
    there = v.world.replica.table(PLAIN)
    name = TableName("sales", "extra")
    v.world.replica.create_table(there.at(name, there.location + "x"))


def function_extra(v: Verifying) -> None:
    v.world.replica.create_function(objects.a_function("sales", "shout"))


def database_parameter(v: Verifying) -> None:
    there = v.world.replica.database("sales").parameters
    v.world.replica.set_database_parameters("sales", {**there, "team": "Basel"})


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("damage", "leaf", "kind"),
    [
        (flipped, "orders p=a b", "content"),
        (added, "orders p=a b", "names"),
        (removed, "plain", "names"),
        (truncated, "plain", "length"),
        (partition_missing, "orders p=no files", "missing"),
        (partition_extra, "orders p=extra", "extra"),
        (partition_parameter, "orders p=a b", "meta"),
        (column, "plain", "meta"),
        (parameter, "plain", "meta"),
        (constraint, "plain", "meta"),
        (view_text, "recent", "meta"),
        (table_missing, "empty", "missing"),
        (table_extra, "extra", "extra"),
        (function_extra, " function shout", "extra"),
        (database_parameter, " database", "meta"),
    ],
)
@pytest.mark.parametrize(
    ("replica_keeps_log", "at_once"), [(False, PARTITIONS_AT_ONCE), (True, PARTITIONS_AT_ONCE), (True, 1)]
)
def test_damage_is_found_in_exactly_its_leaf(
    damage: Damage, leaf: str, kind: str, replica_keeps_log: bool, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the partitions of a table are read in pages."""
    monkeypatch.setattr("twinhive.replication.comparison.leaf_reader.PARTITIONS_AT_ONCE", at_once)
    monkeypatch.setattr("twinhive.replication.comparison.leaf_reader.PARTITIONS_OF_A_PAGE", 2)
    verifying = Verifying(replica_keeps_log=replica_keeps_log)
    assert verifying.verify().is_equal
    damage(verifying)
    first = verifying.verify()
    assert (first.findings, len(first.suspects)) == ((), 1), first.lines()
    second = verifying.verify()
    assert second.suspects == ()
    assert [one.partition(" (")[0] for one in second.findings] == [f"{leaf}: {kind}"]


def test_damage_from_before_the_first_look_is_found_by_names_at_once_and_by_checksums_when_deep(
    verifying: Verifying,
) -> None:
    write(verifying, file_of(verifying, PLAIN, None, "data"), b"nialp")
    assert verifying.verify().findings == ()
    (found,) = verifying.findings(deep=True)
    assert found.startswith("plain: content (data: source ")


def test_a_finding_says_both_values(verifying: Verifying) -> None:
    parameter(verifying)
    (found,) = verifying.findings()
    assert found == "plain: meta (parameters.by: source None, replica 'hand')"


def test_a_finding_is_gone_when_the_damage_is(verifying: Verifying) -> None:
    before = verifying.world.replica.table(PLAIN)
    parameter(verifying)
    assert len(verifying.findings()) == 1
    verifying.world.replica.alter_table(PLAIN, before)
    assert verifying.verify().is_equal


def test_what_changes_between_two_looks_is_no_finding(verifying: Verifying) -> None:
    verifying.verify()
    for content in (b"a", b"bc", b"def"):
        write(verifying, file_of(verifying, PLAIN, None, "data"), content)
        found = verifying.verify()
        assert (found.findings, len(found.suspects)) == ((), 1)


def test_a_second_look_that_comes_too_early_finds_nothing_yet(verifying: Verifying) -> None:
    parameter(verifying)
    first = verifying.verify()
    verifying.now -= 899  # one second later
    second = verifying.verify()
    assert (second.findings, second.look_again_at) == ((), first.look_again_at)
    assert len(verifying.verify().findings) == 1


def test_a_silent_write_is_no_finding_once_the_scan_has_brought_it(verifying: Verifying) -> None:
    from tests.unit.replication.scan.test_scan import put, scan

    scan(verifying.followed)
    verifying.verify()
    put(verifying.followed, "plain", "part-1", b"silent")
    assert len(verifying.verify().suspects) == 1
    scan(verifying.followed, now=2e9)
    assert verifying.verify().is_equal


def test_events_that_are_not_applied_yet_are_not_judged_and_never_called_equal(verifying: Verifying) -> None:
    verifying.users.insert("orders", ("a b",), [b"more"])
    found = verifying.verify()
    assert list(found.not_judged) == ["orders p=a b"]
    assert not found.is_equal
    assert found.judged == found.leaves - 1
    verifying.followed.follow()
    assert verifying.verify().is_equal


def test_a_table_that_settles_between_two_rounds_is_judged_in_the_next(verifying: Verifying) -> None:
    verifying.users.insert("orders", ("a b",), [b"more"])
    found = verifying.verify(during=verifying.followed.follow)
    assert found.is_equal
    assert found.event == verifying.world.source.current_event_id()


def busy(verifying: Verifying) -> None:
    verifying.followed.follow()
    verifying.users.insert("plain", None, [b"more"])
    verifying.users.insert("orders", ("a b",), [b"more"])


def test_what_never_settles_is_judged_at_an_event_at_which_both_sides_were_seen(verifying: Verifying) -> None:
    busy(verifying)
    found = verifying.verify(during=lambda: busy(verifying))
    assert found.is_equal and found.judged == found.leaves
    assert found.hot.keys() == {"plain", "orders p=a b"}
    assert all(event > 8 for event in found.hot.values())
    assert any("as it never stood still: plain" in line for line in found.lines())


def test_what_never_settles_on_a_replica_that_stands_still_is_said_by_name(verifying: Verifying) -> None:
    verifying.users.insert("plain", None, [b"more"])
    found = verifying.verify(during=lambda: verifying.users.insert("plain", None, [b"more"]))
    assert list(found.not_judged) == ["plain"]
    assert found.findings == found.suspects == ()


@pytest.mark.thorough
@pytest.mark.parametrize("table", ["plain", "orders"])
def test_damage_of_what_never_settles_is_found(verifying: Verifying, table: str) -> None:
    world, name = verifying.world, verifying.users.name(table)
    found = world.replica.table(name)
    place, file = found.location, "data"
    if table == "orders":
        (part,) = world.replica.partitions(name, ["p=a b"])
        place, file = part.location, "f1"
    before = world.replica_files.read(f"{place}/{file}")
    world.replica_files.write(f"{place}/{file}", b"#" * len(before))
    busy(verifying)
    for _ in range(2):
        seen = verifying.verify(deep=True, during=lambda: busy(verifying))
    (finding,) = seen.findings
    assert finding.startswith(table) and "content" in finding and file in finding


def test_more_than_can_be_looked_at_is_said_by_name(verifying: Verifying, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verification_run, "MOST_HOT", 1)
    busy(verifying)
    assert len(verifying.verify(during=lambda: busy(verifying)).not_judged) == 2


def test_damage_beside_what_is_not_applied_yet_is_found(verifying: Verifying) -> None:
    verifying.verify()
    added(verifying)
    verifying.users.insert("orders", ("50%=#:ü",), [b"more"])
    verifying.verify()
    assert [one.partition(":")[0] for one in verifying.verify().findings] == ["orders p=a b"]


def test_frozen_requested_and_left_out_tables_are_not_judged_by_name(verifying: Verifying) -> None:
    world, policy = verifying.world, verifying.followed.policy
    parameters = world.replica.database("sales").parameters
    world.replica.set_database_parameters("sales", with_frozen(parameters, "plain", "4 broken"))
    request_table(world.replica_files, policy, "empty", "ann")
    found = verifying.verify()
    assert found.not_judged == {
        "plain": "quarantined: 4 broken",
        "empty": "asked for: the next window brings it",
    }
    assert found.left_out == {"outside": "external table: the policy leaves them out"}


def test_single_tables_are_verified_alone(verifying: Verifying) -> None:
    parameter(verifying)
    assert verifying.verify("orders").is_equal
    assert len(verifying.findings("plain")) == 1
    with pytest.raises(InvalidSettings):
        Verifying(with_scope(verifying)).verify("plain")


def with_scope(verifying: Verifying):
    followed = verifying.followed
    followed.policy = replace(followed.policy, include=("orders",))
    return followed


def test_the_last_outcome_and_its_differences_are_on_the_replica(verifying: Verifying) -> None:
    parameter(verifying)
    verifying.verify()
    found = verifying.verify()
    policy, files = verifying.followed.policy, verifying.world.replica_files
    assert last_outcome(files, policy) == found
    path = join(verify_directory(policy), "runs", f"{found.event:012d}", "differences.jsonl.gz")
    (line,) = gzip.decompress(files.read(path)).decode().splitlines()
    assert json.loads(line) == {
        "standing": "finding",
        "table": "plain",
        "kind": "meta",
        "values": {"parameters.by": {"source": None, "replica": "hand"}},
    }


def test_the_status_says_how_the_last_verification_ended(verifying: Verifying) -> None:
    def rows() -> dict[str, str]:
        return dict(read_status(verifying.world.ports(), verifying.followed.policy).rows())

    assert "verified" not in rows()
    event_id = verifying.world.source.current_event_id()
    verifying.verify()
    assert rows()["verified"] == f"equal at event {event_id}"
    assert rows()["compared"].startswith("names and lengths of 100 % of 9 leaves, ")
    parameter(verifying)
    verifying.findings()
    assert rows()["verified"] == f"NOT EQUAL at event {event_id}: 1 finding"


def test_a_file_that_is_gone_when_its_checksum_is_asked_about_is_looked_at_again(
    verifying: Verifying, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A user of a busy table is no error of the verification, and nobody's turn."""
    gone: list[str] = []

    def checksum_type(path: str) -> str:
        gone.append(path)
        raise Missing(f"{path}: hdfs://east does not have this path")

    monkeypatch.setattr(verifying.world.source_files, "checksum_type", checksum_type)
    monkeypatch.setattr(verifying.world.source_files, "checksum", lambda path, form, length=None: f"x{path}")
    found = verifying.verify(deep=True)
    assert gone
    assert (found.findings, found.by_bytes) == ((), 0)
    assert found.suspected == 3
    monkeypatch.undo()
    assert verifying.verify(deep=True).suspects == ()

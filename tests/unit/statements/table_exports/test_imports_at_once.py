"""Several imports into one table: none ends well without its rows; whoever fails says so, and may be run again."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

import pytest

from tests.support.worlds.copies import left_by_kills
from tests.support.worlds.exported_tables import EXPORTS, ExportedTables, Rows
from tests.support.worlds.fake_world import Killed, KillSwitch
from twinhive.core.model.errors import AlreadyThere, LeaseHeld, LeaseLost, TryAgain, TwinhiveError
from twinhive.core.model.lease_kinds import LeaseKind
from twinhive.core.model.names import TableName
from twinhive.statements.table_exports.import_execution import Imported

T = TableName("d", "t")
ONE, OTHER, THIRD = {"p": "a b"}, {"p": "50%=#:ü"}, {"p": "no files"}
PLACE = "hdfs://west/warehouse/managed/d.db/t/p=a b"
NAMES = {"a b": "p=a b", "50%=#:ü": "p=50%25%3D%23%3Aü", "no files": "p=no files"}
WHOLE: Mapping[str, Rows] = ExportedTables().of_source("orders")


def exported(*, is_there: bool = False, tables: tuple[str, ...] = ("orders",)) -> ExportedTables:
    made = ExportedTables()
    for table in tables:
        made.export(table)
    if is_there:
        made.import_("orders", "t", spec=THIRD)
    return made


class At:
    """Let somebody do something before the n-th change, after all that was looked at for it: as if it was frozen."""

    def __init__(self, at: int, does: Callable[[], object]) -> None:
        self.at, self.does, self.was_there = at, does, False

    def change(self, effect: Callable[[], Any]) -> Any:
        self.at -= 1
        if self.at == 0:
            self.was_there = True
            self.does()
        return effect()


def ended(tables: ExportedTables, switch: Any = None, export: str = "orders", **how: Any) -> Imported | TwinhiveError:
    try:
        return tables.import_(export, "t", switch, **how)
    except TwinhiveError as error:
        return error


def assert_told_truly(tables: ExportedTables, end: Imported | TwinhiveError, spec: Mapping[str, str]) -> None:
    """Whoever ended well has its rows, and all partitions that show have theirs."""
    rows = tables.of_import("t") or {}
    assert all(found == WHOLE[name] for name, found in rows.items()), rows
    if isinstance(end, Imported):
        name = NAMES[spec["p"]]
        assert rows[name] == WHOLE[name] and end.files == len(WHOLE[name])
    else:
        assert isinstance(end, (TryAgain, AlreadyThere)), end


@pytest.mark.parametrize("is_there", [False, True])
def test_another_of_other_partitions_before_any_change_does_no_harm(is_there: bool) -> None:
    for at in range(1, 60):
        tables, ends = exported(is_there=is_there), []
        switch = At(at, lambda tables=tables, ends=ends: ends.append(ended(tables, spec=OTHER)))
        ends.append(ended(tables, switch, spec=ONE))
        if not switch.was_there:
            assert at > 15
            return
        assert all(isinstance(end, Imported) for end in ends), (at, ends)
        assert_told_truly(tables, ends[0], OTHER)
        assert_told_truly(tables, ends[1], ONE)
        assert tables.left_over() == []
    raise AssertionError("more changes than were looked at")


@pytest.mark.parametrize("is_there", [False, True])
def test_another_that_shares_a_partition_before_any_change_is_told_and_one_of_both_is_whole(is_there: bool) -> None:
    for at in range(1, 60):
        tables, ends = exported(is_there=False, tables=("orders",)), []
        if is_there:
            tables.export("no_partitions")
            tables.import_("no_partitions", "t")
        switch = At(at, lambda tables=tables, ends=ends: ends.append(ended(tables)))
        ends.append(ended(tables, switch, spec=ONE))
        if not switch.was_there:
            return
        assert_told_truly(tables, ends[1], ONE)
        assert isinstance(ends[0], (Imported, TryAgain, AlreadyThere)), ends
        again = [ended(tables, spec=ONE), ended(tables)]
        assert all(isinstance(end, (Imported, AlreadyThere)) for end in again), (at, ends, again)
        assert tables.of_import("t")[NAMES["a b"]] == WHOLE[NAMES["a b"]]
    raise AssertionError("more changes than were looked at")


@pytest.mark.parametrize("is_there", [False, True])
def test_the_same_again_while_one_runs_takes_over(is_there: bool) -> None:
    for at in range(1, 60):
        tables, ends = exported(is_there=is_there), []
        switch = At(at, lambda tables=tables, ends=ends: ends.append(ended(tables, spec=ONE)))
        ends.append(ended(tables, switch, spec=ONE))
        if not switch.was_there:
            return
        assert not all(isinstance(end, AlreadyThere) for end in ends), (at, ends)
        if not any(isinstance(end, Imported) for end in ends):
            ends.append(ended(tables, spec=ONE))
        assert isinstance(ends[-1], Imported) or isinstance(ends[0], Imported), (at, ends)
        assert_told_truly(tables, ends[0], ONE)
        assert_told_truly(tables, ends[1], ONE)
        assert tables.of_import("t")[NAMES["a b"]] == WHOLE[NAMES["a b"]]
        assert_told_truly(tables, ended(tables, spec=ONE), ONE)
    raise AssertionError("more changes than were looked at")


@pytest.mark.parametrize("is_there", [False, True])
def test_what_one_has_left_that_was_killed_is_taken_back_by_the_next_and_it_goes_on(is_there: bool) -> None:
    def act(tables: ExportedTables, switch: Any) -> None:
        tables.import_("orders", "t", switch, spec=ONE)

    for left in left_by_kills(lambda: exported(is_there=is_there), act, least=15):
        left.import_("orders", "t", spec=OTHER)
        shown = left.of_import("t") or {}
        places = {f"hdfs://west/warehouse/managed/d.db/t/{name}" for name in WHOLE}
        there = {place for place in places if left.world.replica_files.status(place) is not None}
        assert {place.rpartition("/")[2] for place in there} == set(shown)
        assert left.left_over() == []
        end = ended(left, spec=ONE)
        assert isinstance(end, Imported) or NAMES["a b"] in shown
        assert_told_truly(left, end, ONE)
        assert (left.of_import("t") or {})[NAMES["a b"]] == WHOLE[NAMES["a b"]]


@pytest.mark.parametrize("at", range(1, 30))
def test_of_one_that_may_live_nothing_is_taken_back(at: int) -> None:
    tables = exported(tables=("orders", "no_partitions"))
    tables.import_("no_partitions", "t")
    with suppress(Killed):
        tables.import_("orders", "t", KillSwitch(at, after_effect=True), spec=ONE)
    before = tables.world.replica_files.status(PLACE)
    tables.import_("orders", "t", spec=OTHER)
    after = tables.world.replica_files.status(PLACE)
    assert after == before
    # Whoever needs the same place is told to wait, until it shows that the other lives no more.
    if before is not None and NAMES["a b"] not in (tables.of_import("t") or {}):
        tables.world.replica_files.put(f"{EXPORTS}/copied", b"")
        tables.export("orders", overwrites=True)
        with pytest.raises(LeaseHeld, match="another import into"):
            tables.import_("orders", "t", spec={"P": "a b", "p": "a b"})


@pytest.mark.parametrize("is_there", [False, True])
def test_one_that_was_frozen_until_it_was_taken_for_dead_tells_nobody_of_rows_that_are_not_there(
    is_there: bool,
) -> None:
    """Frozen at any change, after all proofs for it: another import takes back what it has placed meanwhile."""
    lost = 0
    for at in range(1, 60):
        tables = exported(is_there=is_there)

        def taken_for_dead(tables: ExportedTables = tables) -> None:
            tables.world.lease.lose_holders()
            tables.import_("orders", "t", spec=OTHER)

        switch = At(at, taken_for_dead)
        end = ended(tables, switch, spec=ONE)
        if not switch.was_there:
            assert lost > 5
            return
        lost += isinstance(end, LeaseLost)
        assert_told_truly(tables, end, ONE)
        if not isinstance(end, Imported):
            assert isinstance(end, TryAgain), (at, end)
            tables.world.lease.lose_holders()
            again = ended(tables, spec=ONE)
            assert isinstance(again, Imported), (at, end, again)
        rows = tables.of_import("t")
        wanted = WHOLE if is_there else {name: WHOLE[name] for name in WHOLE if name != NAMES["no files"]}
        assert rows == wanted, (at, end)
    raise AssertionError("more changes than were looked at")


@pytest.mark.parametrize("is_there", [False, True])
def test_of_a_table_without_partitions_too(is_there: bool) -> None:
    """Another import of other rows into the same table, while one is frozen at any change."""
    for at in range(1, 60):
        tables = exported(tables=("plain", "empty"))
        both = {"earlier": tables.of_source("plain")[""]}
        tables.world.replica_files.rename(f"{EXPORTS}/plain", f"{EXPORTS}/earlier")
        tables.users.insert("plain", None, [b"more rows"])
        tables.export("plain")
        both["plain"] = tables.of_source("plain")[""]
        if is_there:
            tables.import_("empty", "t")
        ends: list[Imported | TwinhiveError] = []

        def taken_for_dead(tables: ExportedTables = tables, ends: Any = ends) -> None:
            tables.world.lease.lose_holders()
            ends.append(ended(tables, export="earlier"))

        switch = At(at, taken_for_dead)
        ends.append(ended(tables, switch, export="plain"))
        if not switch.was_there:
            return
        rows = (tables.of_import("t") or {}).get("", {})
        for end, export in zip(ends, ("earlier", "plain"), strict=True):
            if isinstance(end, Imported):
                assert rows == both[export], (at, ends)
            else:
                assert isinstance(end, (TryAgain, AlreadyThere)), (at, end)
        tables.world.lease.lose_holders()
        if not any(isinstance(end, Imported) for end in ends):
            again = [ended(tables, export="plain"), ended(tables, export="earlier")]
            assert any(isinstance(end, Imported) for end in again), (at, ends, again)
        assert (tables.of_import("t") or {})[""] in both.values(), (at, ends)
    raise AssertionError("more changes than were looked at")


def test_one_that_takes_back_proves_that_it_may_in_the_call_before() -> None:
    """It has looked what nobody uses; meanwhile whoever had left that goes on with it, and ends well."""
    for at in range(1, 40):
        tables = exported(tables=("orders", "no_partitions"))
        tables.import_("no_partitions", "t")
        with suppress(Killed):
            tables.import_("orders", "t", KillSwitch(at, after_effect=True), spec=ONE)
        if tables.world.replica_files.status(PLACE) is not None:
            break
    assert not tables.of_import("t")
    lease, replica = tables.world.lease, tables.world.replica
    lease.lose_holders()
    tools, real, ends = tables.tools(), replica.partitions, list[Imported | TwinhiveError]()

    def partitions(name: TableName, names: Any) -> Any:
        found = real(name, names)
        if not ends and NAMES["a b"] in names:
            ends.append(LeaseLost(""))
            lease.lose_holders()
            ends[0] = ended(tables, spec=ONE)
        return found

    replica.partitions = partitions
    with suppress(TwinhiveError):
        tables.looked("orders", "t", spec=OTHER).run(tools)
    assert isinstance(ends[0], Imported)
    assert_told_truly(tables, ends[0], ONE)


def test_of_a_directory_that_is_gone_before_the_call_the_metastore_is_told_nothing() -> None:
    tables = exported(tables=("orders", "no_partitions"))
    tables.import_("no_partitions", "t")
    files, replica = tables.world.replica_files, tables.world.replica
    tools, real = tables.tools(), replica.partitions

    def partitions(name: TableName, names: Any) -> Any:
        found = real(name, names)
        if files.status(PLACE) is not None:
            files.rename(PLACE, "hdfs://west/somewhere")
        return found

    files.make_directories("hdfs://west")
    replica.partitions = partitions
    with pytest.raises(TryAgain, match="not where this import has put them") as raised:
        tables.looked("orders", "t", spec=ONE).run(tools)
    assert raised.value.words.next_step
    replica.partitions = real
    assert "ADD_PARTITION" not in tables.events_of_import("t")
    tables.import_("orders", "t", spec=ONE)
    assert_told_truly(tables, tables.import_("orders", "t", spec=OTHER), OTHER)
    assert (tables.of_import("t") or {})["p=a b"] == WHOLE["p=a b"]


@pytest.mark.parametrize("table", ["orders", "plain"])
def test_what_somebody_else_takes_out_of_its_work_is_missed_before_anything_is_placed(table: str) -> None:
    tables = exported(tables=(table,))
    files = tables.world.replica_files
    real = files.rename

    def rename(source: str, target: str) -> bool:
        done = real(source, target)
        if "/done-" in target:
            taken = next(path for path in files.paths() if "/tree/" in path and ".twinhive-import-" in path)
            files.delete(taken)
        return done

    tools = tables.tools()
    files.rename = rename
    with pytest.raises(TryAgain, match="vanished before it was put in its place"):
        tables.looked(table, "t").run(tools)
    files.rename = real
    assert not tables.of_import("t")
    tables.import_(table, "t")
    assert tables.of_import("t") == tables.of_source(table)


def test_nothing_is_renamed_under_a_lost_lease() -> None:
    tables = exported(tables=("orders", "no_partitions"))
    tables.import_("no_partitions", "t")
    files, lease = tables.world.replica_files, tables.world.lease
    tools, real = tables.tools(), files.write

    def write(path: str, content: bytes) -> None:
        real(path, content)
        if path.endswith("placing.json"):
            with lease.hold(f"{path.rsplit('/', 2)[0]}/lease", {"run": "another"}, LeaseKind.STATEMENT):
                pass

    files.write = write
    with pytest.raises(LeaseLost):
        tables.looked("orders", "t", spec=ONE).run(tools)
    files.write = real
    assert files.status(PLACE) is None
    assert_told_truly(tables, tables.import_("orders", "t", spec=ONE), ONE)

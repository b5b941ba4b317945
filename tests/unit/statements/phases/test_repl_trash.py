"""What a replica does not use any more goes to the trash after the grace, whoever dropped or excluded it."""

from dataclasses import replace

import pytest

from tests.support.builders import a_partition, a_table, an_external
from tests.support.hdfs.fake_trash import TRASH
from tests.support.worlds.copies import copies_of
from tests.support.worlds.fake_world import Killed, KillSwitch, killable
from tests.support.worlds.memory_comparison import contents
from tests.support.worlds.repl_world import EVERYTHING, ReplWorld, Scope
from twinhive.core.model.errors import Refused, Unexplained
from twinhive.core.step.replica_lease import lease_directory
from twinhive.core.step.step_base import Work
from twinhive.replication.scan.sweep import sweep
from twinhive.runtime.dry_run.pretended_ports import pretended

ALL: Scope = (EVERYTHING, ())
LETTERS: Scope = (("[a-z_]+",), ())
FIRST, LATER = 10_000_000_000.0, 10_000_100_000.0
LONG = 100_000.0
IN_TRASH = f"hdfs://west{TRASH}/Current/warehouse/managed/"


class Excluding(ReplWorld):
    """A replica of everything, with tables that another policy leaves out: q5, with partitions p5, the view v5."""

    def __init__(self) -> None:
        super().__init__()
        self.users.create_table("q5", files=[b"five"])
        parts = self.world.add_table(a_table("sales.p5", partition_keys=("p",)))
        self.world.source.add_partitions([a_partition(parts, "old")])
        self.world.source_files.put(f"{parts.location}/p=old/f", b"old")
        self.users.create_view("v5")
        self.files = self.world.replica_files
        self.files.keeps_trash = True
        self.load(self.dump(), now=FIRST - 100_000)
        self.users.insert("p5", ("old",), [b"appended"])
        self.users.add_partitions("p5", {("new",): [b"new"]})
        self.load(self.dump(self.status()), now=FIRST - 90_000)

    def exclude(self, now: float = FIRST) -> None:
        self.load(self.dump(self.status(), scope=LETTERS, replaces=ALL), scope=LETTERS, now=now)

    def sweep(self, after: float = LONG) -> int:
        self.files.pass_time(after)
        return sweep(self.world.ports(), self.work())

    def work(self) -> Work:
        return Work(self.policy(LETTERS), holder={"run": "sweep"}, report=self.log.append)

    def location(self, table: str) -> str:
        (found,) = self.world.replica.tables("sales", [table])
        return found.location

    def in_trash(self) -> dict[str, bytes]:
        """Return what is in the trash: the directory of the table, and the file's content."""
        return {path.removeprefix(IN_TRASH): self.files.read(path) for path in self.files.paths() if TRASH in path}

    def endings(self) -> dict[str, str]:
        """Return what the sweeps have said, by table."""
        said = [line.split(", unused for ") for line in self.log if ", unused for " in line]
        return {line.rpartition("/")[2].partition(".")[0]: ending for ending, line in said}


@pytest.fixture
def repl() -> Excluding:
    return Excluding()


def tables(found: dict[str, bytes]) -> dict[str, list[bytes]]:
    rows: dict[str, list[bytes]] = {}
    for path, content in found.items():
        rows.setdefault(path.partition("/")[2].partition(".")[0], []).append(content)
    return {table: sorted(some) for table, some in rows.items()}


EXCLUDED = {"q5": [b"five"], "p5": [b"appended", b"new", b"old"]}


def test_data_of_excluded_tables_is_kept_for_the_grace_and_is_in_the_trash_then(repl: Excluding) -> None:
    there = repl.location("q5"), repl.location("p5")
    repl.exclude()
    repl.sweep(3600)
    assert all(map(repl.files.status, there)) and repl.in_trash() == {}
    assert repl.sweep() == 2
    assert not any(map(repl.files.status, there))
    assert tables(repl.in_trash()) == EXCLUDED
    assert repl.endings() == {"q5": "moved to the trash", "p5": "moved to the trash"}


def test_where_no_trash_is_kept_it_is_deleted_and_that_is_said(repl: Excluding) -> None:
    repl.files.keeps_trash = False
    there = repl.location("q5")
    repl.exclude()
    repl.sweep()
    assert repl.files.status(there) is None
    assert repl.endings() == dict.fromkeys(("q5", "p5"), "removed, no trash is kept there")


def test_what_the_source_drops_or_replaces_goes_to_the_trash_as_well(repl: Excluding) -> None:
    repl.users.overwrite("plain", None, [b"other"])
    repl.users.drop_table("empty")
    repl.users.drop_partitions("orders", [("a b",)])
    repl.users.create_table("made", files=[b"made"])
    repl.load(repl.dump(repl.status()), now=FIRST - 1)
    repl.users.rename_table("made", "made5")
    repl.exclude()
    assert repl.sweep() == 6
    in_trash = tables(repl.in_trash())
    assert in_trash.items() >= EXCLUDED.items() and {"plain", "orders"} <= in_trash.keys()
    assert set(repl.endings().values()) == {"moved to the trash"}


def test_a_table_that_is_taken_in_again_has_another_directory_and_the_old_one_goes_to_the_trash(
    repl: Excluding,
) -> None:
    before = repl.location("q5")
    repl.exclude()
    repl.users.insert("q5", None, [b"six"])
    repl.load(repl.dump(repl.status(), scope=ALL, replaces=LETTERS), now=FIRST + 1)
    repl.sweep()
    assert repl.location("q5") != before
    assert tables(repl.in_trash()) == EXCLUDED
    assert contents(repl.world.replica, repl.files) == contents(repl.world.source, repl.world.source_files)


def test_a_directory_that_somebody_has_taken_away_is_not_missed(repl: Excluding) -> None:
    repl.files.delete(repl.location("q5"))
    repl.exclude()
    repl.sweep()
    assert "q5" not in repl.tables() and tables(repl.in_trash()) == {"p5": EXCLUDED["p5"]}


def test_what_the_trash_does_not_take_stays_and_is_an_error(repl: Excluding) -> None:
    there, replaced = repl.location("q5"), repl.location("plain")
    repl.users.overwrite("plain", None, [b"other"])
    repl.exclude()
    repl.files.forbidden.add("hdfs://west/user/hive")
    with pytest.raises(Refused, match="3 unused directories") as refused:
        repl.sweep()
    assert str(refused.value).count("permission denied") == 3
    assert repl.endings() == dict.fromkeys(("plain", "q5", "p5"), "left in place")
    assert repl.files.status(there) and repl.files.status(replaced)
    repl.files.forbidden.clear()
    repl.sweep()
    assert tables(repl.in_trash()).items() >= EXCLUDED.items()


def test_a_load_says_what_its_sweep_could_not_remove_and_ends_well(repl: Excluding) -> None:
    repl.exclude()
    repl.files.forbidden.add("hdfs://west/user/hive")
    repl.users.create_table("orders2")
    repl.files.pass_time(LONG)
    repl.load(repl.dump(repl.status(), scope=LETTERS), scope=LETTERS, now=LATER)
    assert any("not all that nobody uses could be removed" in line for line in repl.log)
    assert repl.status() == repl.world.source.current_event_id()


def test_a_load_ends_well_though_the_trash_refuses_in_two_ways(repl: Excluding) -> None:
    repl.exclude()
    answers = iter((Refused, Unexplained))

    def to_trash(path: str) -> bool:
        raise next(answers)(f"{path}: not taken")

    repl.files.to_trash = to_trash
    repl.users.create_table("orders2")
    repl.files.pass_time(LONG)
    repl.load(repl.dump(repl.status(), scope=LETTERS), scope=LETTERS, now=LATER)
    assert any("not all that nobody uses could be removed" in line for line in repl.log)
    assert not list(answers) and repl.status() == repl.world.source.current_event_id()


def test_a_rehearsed_sweep_moves_nothing(repl: Excluding) -> None:
    repl.exclude()
    before, work = repl.files.paths(), repl.work()
    at_once = replace(work.policy, options=replace(work.policy.options, grace_seconds=0))
    assert sweep(pretended(repl.world.ports()), replace(work, policy=at_once)) == 2
    assert repl.files.paths() == before


def test_data_of_an_external_table_stays_where_it_is(repl: Excluding) -> None:
    class WithExternal(Excluding):
        def policy(self, *args, **kwargs):
            return replace(super().policy(*args, **kwargs), external=an_external())

    repl = WithExternal()
    repl.world.source_files.put("hdfs://east/outside5/part.5/f", b"rows")
    repl.world.add_table(a_table("sales.outside5", table_type="EXTERNAL_TABLE", location="hdfs://east/outside5/part.5"))
    repl.load(repl.dump(repl.status()), now=FIRST - 1)
    assert repl.location("outside5") == "hdfs://west/ext/outside5/part.5"
    repl.exclude()
    repl.sweep()
    assert "outside5" not in repl.tables()
    assert repl.files.read("hdfs://west/ext/outside5/part.5/f") == b"rows"
    assert tables(repl.in_trash()) == EXCLUDED


def test_a_directory_in_one_of_hives_places_is_left_as_it_is(repl: Excluding) -> None:
    repl.load(repl.dump(repl.status()), hive_places=True, now=FIRST - 1)
    there = repl.location("q5")
    repl.files.forbidden.add(there)
    repl.exclude()
    repl.sweep()
    assert "q5" not in repl.tables() and repl.files.status(there)


def test_excluded_tables_are_read_some_at_a_time(repl: Excluding) -> None:
    for number in range(401):
        repl.users.create_table(f"many{number}")
    repl.load(repl.dump(repl.status()), now=FIRST - 1)
    asked: list[int] = []
    read = repl.world.replica.tables
    repl.world.replica.tables = lambda database, names: (asked.append(len(names)), read(database, names))[1]
    dumped = repl.dump(repl.status(), scope=LETTERS, replaces=ALL)
    repl.load(dumped, scope=LETTERS, now=FIRST - 1)
    assert not any(name.startswith("many") for name in repl.tables())
    assert max(asked) <= 200


@pytest.mark.parametrize("after_effect", [False, True], ids=["before", "after"])
def test_a_load_and_a_sweep_killed_at_any_change_bring_excluded_data_to_the_trash_once(after_effect: bool) -> None:
    excluding = Excluding()
    dumped = excluding.dump(excluding.status(), scope=LETTERS, replaces=ALL)
    copy = copies_of(excluding)
    at = 1
    while True:
        repl, switch = copy(), KillSwitch(at, after_effect=after_effect)
        ports = killable(repl.world.ports(), switch)
        for run in (
            lambda ports: repl.load(dumped, scope=LETTERS, ports=ports, now=FIRST),  # noqa: B023
            lambda ports: sweep(ports, repl.work()),  # noqa: B023
            lambda ports: (repl.files.pass_time(LONG), sweep(ports, repl.work())),  # noqa: B023
        ):
            try:
                run(ports)
            except Killed:
                # A load that finds itself done takes no lease; the NameNode has closed that of the killed one.
                repl.world.lease.known_dead.add(lease_directory(repl.work().policy))
                ports = repl.world.ports()
                run(ports)
        assert tables(repl.in_trash()) == EXCLUDED
        assert not {"q5", "p5", "v5"} & set(repl.tables())
        if switch.count < at:
            return
        at += 1

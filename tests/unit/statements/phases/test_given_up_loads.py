"""Staging directories of loads that were given up are removed by age, never one that a load still needs."""

from dataclasses import replace

import pytest

from tests.support.hdfs.fake_trash import TRASH
from tests.support.worlds.copies import copies_of
from tests.support.worlds.fake_world import Killable, Killed, KillSwitch
from tests.support.worlds.repl_world import ReplWorld
from twinhive.core.directory_marks.directories import claim
from twinhive.core.directory_marks.staging import staging_mark
from twinhive.core.model.errors import Unreachable
from twinhive.core.model.objects import Database
from twinhive.core.model.policy import DatabaseAddress
from twinhive.core.ports import WritePorts
from twinhive.core.step.step_base import Work
from twinhive.statements.steps.abandoned_loads import StagingCleaner
from twinhive.statements.steps.load_lease import under_way, under_way_in
from twinhive.statements.steps.repl_names import replica_named

DAY = 86_400.0
ROOT = "hdfs://west/staging"
OTHER = f"{ROOT}/repl.west.other"
# After whatever a file system in memory says of its files.
LATER = 2_000_000_000.0


@pytest.fixture
def repl() -> ReplWorld:
    return with_leftover(OTHER)


def with_leftover(directory: str) -> ReplWorld:
    repl = ReplWorld()
    claim(repl.world.replica_files, directory, staging_mark(directory.rpartition("/")[2]))
    repl.world.replica_files.put(f"{directory}/events/000000000001/file", b"was staged")
    return repl


def work(repl: ReplWorld, replica: str = "sales") -> Work:
    policy = replace(
        repl.policy(),
        name=f"repl.west.{replica}",
        replica=DatabaseAddress("west", replica),
        staging_root=ROOT,
        dump_directory="hdfs://east/user/hive/repl/sales/1",
    )
    return Work(policy, holder={"run": "load"}, report=repl.log.append)


def clean(repl: ReplWorld, now: float = LATER, ports: WritePorts | None = None) -> list[str]:
    return StagingCleaner(work(repl), DAY, now).run(ports or repl.world.ports())


def make(repl: ReplWorld, parameters: dict[str, str], name: str = "other") -> None:
    repl.world.replica.create_database(Database(name, None, None, parameters, thrift="{}"))


def left(repl: ReplWorld) -> list[str]:
    ((_, children),) = repl.world.replica_files.list_directories([ROOT])
    return [child.path for child in children or ()]


def test_what_is_left_of_a_replica_that_is_not_there_is_removed(repl: ReplWorld) -> None:
    assert clean(repl) == [OTHER]
    assert left(repl) == []
    assert repl.log[-1] == f"removed, nobody loads into west/other: {OTHER}"


def test_what_nothing_proves_to_be_ours_is_kept_and_that_is_said() -> None:
    repl = ReplWorld()
    repl.world.replica_files.put(f"{OTHER}/events/000000000001/file", b"somebody's")
    repl.world.replica_files.put(f"{OTHER}/lease/lease-0000000001", b"{}")
    before = repl.world.replica_files.paths()
    assert clean(repl) == []
    assert repl.world.replica_files.paths() == before
    assert repl.log[-1] == f"kept, nothing says that we have made it: {OTHER}"


def test_what_was_staged_goes_to_the_trash(repl: ReplWorld) -> None:
    files = repl.world.replica_files
    files.keeps_trash = True
    files.put(f"{OTHER}/events/000000000001/file", b"was staged")
    assert clean(repl) == [OTHER]
    assert left(repl) == []
    assert [path.rpartition(f"{TRASH}/")[2] for path in files.paths() if path.endswith("/file")] == [
        "Current/staging/_removing-repl.west.other/events/000000000001/file"
    ]


def test_what_has_changed_within_the_time_is_kept(repl: ReplWorld) -> None:
    files = repl.world.replica_files
    old = files.status(OTHER).modified_ms / 1000
    newest = files.put(f"{OTHER}/events/1").modified_ms / 1000
    assert clean(repl, old + DAY + 1) == clean(repl, newest + DAY) == []
    assert clean(repl, newest + DAY + 2) == [OTHER]


@pytest.mark.parametrize(
    "marks",
    [
        {"twinhive.policy": "repl.west.other", "twinhive.phase": "loading"},
        {"twinhive.policy": "repl.west.other", "twinhive.phase": "following", "repl.last.id": "5"},
        {"twinhive.policy": "repl.west.other", "twinhive.phase": "of a later version"},
        {"repl.last.id": "5"},
    ],
    ids=["loading", "following", "later", "hive"],
)
def test_what_a_replica_of_that_name_may_need_is_kept(repl: ReplWorld, marks: dict[str, str]) -> None:
    make(repl, marks)
    assert clean(repl) == []
    assert left(repl) == [OTHER]


@pytest.mark.parametrize("marks", [{}, {"twinhive.policy": "other", "twinhive.phase": "following"}])
def test_a_database_that_is_no_replica_of_that_name_needs_nothing(repl: ReplWorld, marks: dict[str, str]) -> None:
    make(repl, marks)
    assert clean(repl) == [OTHER]


@pytest.mark.parametrize("name", ["sales", "repl.west", "repl.west.", "repl.west.eu.other", "repl.east.other", "x"])
def test_what_no_statement_on_this_cluster_has_staged_is_left_alone(name: str) -> None:
    repl = with_leftover(f"{ROOT}/{name}")
    repl.world.replica_files.put(f"{ROOT}/repl.west.a_file")
    assert clean(repl) == []
    assert f"{ROOT}/{name}" in left(repl)


def test_the_directory_of_the_load_itself_is_kept() -> None:
    repl = with_leftover(f"{ROOT}/repl.west.sales")
    assert clean(repl) == []
    assert len(left(repl)) == 1


def test_a_name_says_the_replica_of_a_cluster_whose_name_has_dots() -> None:
    assert replica_named("repl.a.b.sales", "a.b") == DatabaseAddress("a.b", "sales")
    assert replica_named("repl.a.b.sales", "a") is None


def test_a_load_that_still_copies_keeps_its_directory_though_there_is_no_database(repl: ReplWorld) -> None:
    with under_way(repl.world.ports(), work(repl, "other")) as lease:
        assert clean(repl) == []
        lease.confirm()
    assert left(repl) == [OTHER]
    assert "the lease is held by a process that may still be running" in repl.log[-1]
    assert clean(repl) == [OTHER]


def test_a_load_is_seen_to_be_under_way_from_its_first_note_to_its_last_change() -> None:
    repl = ReplWorld()
    world, dumped, seen = repl.world, repl.dump(), []

    def watch(port: object, name: str) -> None:
        change = getattr(port, name)

        def watched(*arguments: object, **fields: object) -> object:
            seen.append((name, world.lease.is_held(under_way_in(repl.policy().staging))))
            return change(*arguments, **fields)

        setattr(port, name, watched)

    for port, name in (
        (world.source_files, "write"),
        (world.replica_files, "create_from"),
        (world.replica, "create_database"),
        (world.replica, "create_table"),
        (world.replica, "set_database_parameters"),
    ):
        watch(port, name)
    repl.load(dumped)
    assert {name for name, _ in seen} >= {"create_from", "create_database", "create_table"}
    assert seen[0] == ("write", True)
    assert [one for one in seen if not one[1]] == [("write", False)] == seen[-1:]


def killed_load(repl: ReplWorld) -> None:
    with pytest.raises(Killed), under_way(repl.world.ports(), work(repl, "other")):
        raise Killed


def test_what_a_killed_load_has_left_is_kept_until_it_is_known_to_be_dead(repl: ReplWorld) -> None:
    killed_load(repl)
    assert clean(repl) == []
    repl.world.lease.known_dead.add(under_way_in(OTHER))
    assert clean(repl) == [OTHER]


def test_a_load_that_begins_before_the_directory_goes_aside_gets_it_back(repl: ReplWorld) -> None:
    rename, begun = repl.world.replica_files.rename, []

    def beneath_a_load(source: str, target: str) -> bool:
        if not begun:
            begun.append(under_way(repl.world.ports(), work(repl, "other")))
            begun[0].__enter__()
        return rename(source, target)

    repl.world.replica_files.rename = beneath_a_load
    assert clean(repl) == []
    assert left(repl) == [OTHER]
    assert repl.world.replica_files.paths() == [f"{OTHER}/events/000000000001/file"]
    begun[0].__exit__(None, None, None)


def test_a_load_that_ends_while_its_directory_is_looked_at_keeps_it(repl: ReplWorld) -> None:
    world = repl.world
    database, answers = world.replica.database, iter([None])
    make(repl, {"twinhive.policy": "repl.west.other", "twinhive.phase": "following"})
    world.replica.database = lambda name: next(answers, database(name))
    assert clean(repl) == []
    assert left(repl) == [OTHER]


def test_what_cannot_be_removed_is_said_and_the_load_is_none_the_worse(repl: ReplWorld) -> None:
    def refuse(name: str) -> None:
        raise Unreachable("the metastore of west does not answer")

    repl.world.replica.database = refuse
    assert clean(repl) == []
    assert repl.log[-1] == "kept: the metastore of west does not answer"


@pytest.mark.parametrize("after_effect", [False, True], ids=["before", "after"])
def test_a_cleaning_killed_at_any_change_leaves_what_the_next_one_removes(after_effect: bool) -> None:
    copy, at = copies_of(with_leftover(OTHER)), 1
    while True:
        repl = copy()
        switch = KillSwitch(at, after_effect=after_effect)
        ports = repl.world.ports()
        try:
            clean(repl, ports=replace(ports, replica_files=Killable(ports.replica_files, switch)))
        except Killed:
            for directory in (OTHER, f"{ROOT}/_removing-repl.west.other"):
                repl.world.lease.known_dead.add(under_way_in(directory))
            clean(repl)
        assert left(repl) == []
        if switch.count < at:
            return
        at += 1

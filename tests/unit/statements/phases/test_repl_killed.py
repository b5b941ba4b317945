"""Kill REPL LOAD at any change, run it again: the same end; kill REPL DUMP: nothing that can be loaded is left."""

from dataclasses import replace

import pytest

from tests.support.worlds.copies import copies_of
from tests.support.worlds.fake_world import Killable, Killed, KillSwitch, killable
from tests.support.worlds.memory_comparison import contents
from tests.support.worlds.repl_world import EVERYTHING, ReplWorld, Scope
from twinhive.core.model.errors import Missing
from twinhive.replication.dump.repl_dump_description import open_sealed
from twinhive.statements.steps.repl_dump_options import Dumped

ALL: Scope = (EVERYTHING, ())
LETTERS: Scope = (("[a-z]+",), ())


def of_a_database(repl: ReplWorld) -> tuple[Dumped, Scope]:
    return repl.dump(), ALL


def of_events_and_another_policy(repl: ReplWorld) -> tuple[Dumped, Scope]:
    repl.users.create_table("q5", files=[b"five"])
    repl.users.create_table("t3", files=[b"three"])
    old: Scope = (("(?!q).*",), ())
    repl.load(repl.dump(scope=old), scope=old)
    repl.users.overwrite("orders", ("a b",), {"f1": b"other"})
    repl.users.rename_table("plain", "plainer")
    repl.users.drop_table("empty")
    repl.users.create_table("made", files=[b"one"])
    new: Scope = (EVERYTHING, (r"t\d+",))
    return repl.dump(repl.status(), scope=new, replaces=old), new


@pytest.mark.thorough
@pytest.mark.parametrize("after_effect", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("made_by", [of_a_database, of_events_and_another_policy])
def test_a_load_killed_at_any_change_and_run_again_converges(made_by, after_effect: bool) -> None:
    first = ReplWorld()
    dumped, scope = made_by(first)
    copy, at = copies_of(first), 1
    while True:
        repl = copy()
        switch = KillSwitch(at, after_effect=after_effect)
        try:
            repl.load(dumped, scope=scope, ports=killable(repl.world.ports(), switch))
        except Killed:
            repl.load(dumped, scope=scope)
        assert_loaded(repl, dumped, scope)
        if switch.count < at:
            return
        at += 1


def assert_loaded(repl: ReplWorld, dumped: Dumped, scope: Scope) -> None:
    selected = repl.policy(scope)
    source = contents(repl.world.source, repl.world.source_files)
    wanted = {name: table for name, table in source.items() if selected.selects(name.partition(".")[2])}
    assert contents(repl.world.replica, repl.world.replica_files) == wanted
    assert repl.status() == dumped.last_event


@pytest.mark.parametrize("from_event", [None, 3], ids=["database", "events"])
def test_a_dump_that_is_killed_leaves_nothing_that_can_be_loaded(from_event: int | None) -> None:
    at = 1
    while True:
        repl = ReplWorld()
        switch = KillSwitch(at, after_effect=False)
        ports = repl.ports()
        killed = replace(
            ports,
            dump_files=Killable(ports.dump_files, switch),
            source_marker=Killable(ports.source_marker, switch),
        )
        try:
            repl.dump(from_event, ports=killed)
        except Killed:
            with pytest.raises(Missing):
                open_sealed(repl.world.source_files, "hdfs://east/user/hive/repl/sales/1")
        else:
            return
        at += 1

"""External tables whose data has come are published several at a time, each in few calls, and safely."""

import threading
from collections import Counter
from typing import Any

import pytest

from tests.support.hive.metastore_objects import constraints_in_words
from tests.support.users.external_writer import ExternalWriter
from tests.support.worlds.external_followed import POLICY, FollowedExternals
from tests.support.worlds.fake_world import a_world
from twinhive.core.model.errors import ActNow, LeaseLost, Refused, TryAgain, Unreachable, together
from twinhive.core.model.names import TableName
from twinhive.replication.external_tables import pending_index, publish_pending, publish_tables
from twinhive.replication.replica import pending_files
from twinhive.runtime.pipeline.phases import BOOTSTRAP
from twinhive.runtime.pipeline.runner import run_phase, run_rounds

NAMES = [f"t{number:02d}" for number in range(24)]


class Watched:
    """Be the replica's metastore; `before` is asked before each call, with its name and its arguments."""

    def __init__(self, metastore: Any) -> None:
        self._metastore = metastore
        self.calls: Counter[str] = Counter()
        self.before: Any = lambda name, args: None

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._metastore, name)
        if name.startswith("_") or not callable(value):
            return value

        def called(*args: Any, **kwargs: Any) -> Any:
            self.calls[name] += 1
            self.before(name, args)
            return value(*args, **kwargs)

        return called


def with_waiting(names: list[str] = NAMES) -> tuple[FollowedExternals, Watched]:
    """Return a replica on which tables wait, whose data is there now."""
    followed = FollowedExternals.from_the_beginning()
    for name in names:
        followed.users.create_external(name)
    followed.follow()
    assert set(names) <= set(followed.pending)
    followed.sync()
    watched = Watched(followed.world.replica)
    followed.world.replica = watched  # type: ignore[assignment]
    return followed, watched


def test_several_tables_are_published_at_the_same_time() -> None:
    followed, watched = with_waiting()
    both = threading.Barrier(2)

    def wait(name: str, args: Any) -> None:
        if name == "create_table" and args[0].name.table in (NAMES[0], NAMES[-1]):
            both.wait(60)

    watched.before = wait
    followed.follow()
    assert followed.pending == ()


def test_a_table_takes_two_calls_and_what_is_there_is_asked_for_many_together() -> None:
    followed, watched = with_waiting()
    followed.follow()
    assert watched.calls["create_table"] == len(NAMES)
    reads = watched.calls["tables"] + watched.calls["table"]
    assert reads <= len(NAMES) + 12, "what the metastore made of each, and some for all"


def test_one_that_is_refused_keeps_no_other_from_being_published() -> None:
    followed, watched = with_waiting()

    def refuse(name: str, args: Any) -> None:
        if name == "create_table" and args[0].name.table == NAMES[5]:
            raise Refused("no")

    watched.before = refuse
    with pytest.raises(Refused):
        followed.follow()
    assert followed.pending == (NAMES[5],)


@pytest.mark.parametrize("error", [Unreachable("gone"), LeaseLost("taken")], ids=["no answer", "lease lost"])
def test_what_is_no_refusal_ends_all_threads_and_a_rerun_goes_on(error: TryAgain) -> None:
    followed, watched = with_waiting()
    made: list[str] = []

    def fail(name: str, args: Any) -> None:
        if name == "create_table":
            made.append(args[0].name.table)
            raise error

    watched.before = fail
    with pytest.raises(type(error)):
        followed.follow()
    assert len(made) <= publish_tables._THREADS and set(followed.pending) == set(NAMES)
    watched.before = lambda name, args: None
    followed.world.lease.known_dead.update(followed.world.lease._kept)
    followed.follow()
    assert followed.pending == ()
    followed.assert_twin()


def test_nobody_writes_without_the_lease() -> None:
    """The confirmation of each thread is looked at before each of its calls."""
    followed, watched = with_waiting()
    taken = threading.Event()

    def take(name: str, args: Any) -> None:
        if name == "create_table" and not taken.is_set():
            taken.set()
            for kept in followed.world.lease._kept.values():
                kept.newest += 1

    watched.before = take
    with pytest.raises(LeaseLost):
        followed.follow()
    assert watched.calls["create_table"] <= publish_tables._THREADS


def test_a_table_with_a_foreign_key_comes_after_the_one_that_it_refers_to() -> None:
    followed, _ = with_waiting([])
    for name in ("a_child", *NAMES, "z_parent"):
        followed.users.create_external(name)
    followed.users.add_constraint("z_parent", "primary_key", "pk")
    followed.users.add_constraint("a_child", "foreign_key", "fk", parent="z_parent")
    followed.follow()
    assert {"a_child", "z_parent"} <= set(followed.pending)
    followed.sync()
    followed.follow()
    assert followed.pending == ()
    child = constraints_in_words(followed.world.replica, TableName("sales", "a_child"))
    assert child == ["foreign_key fk of id in z_parent"]


def test_a_load_reads_nothing_again_of_what_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []
    for module in (pending_index, pending_files):
        decode = module.decode_pending
        monkeypatch.setattr(module, "decode_pending", lambda content, decode=decode: read.append(1) or decode(content))
    world = a_world()
    users = ExternalWriter(world.source, world.source_files, "sales")
    for name in NAMES:
        users.create_external(name)
    run_phase(BOOTSTRAP, POLICY, world.ports(), {}, lambda line: None)
    run_rounds(POLICY, world.ports(), {}, lambda line: None)
    waiting = pending_files.pending_names(world.replica_files, POLICY)
    assert set(NAMES) <= set(waiting)
    assert not read
    assert list(publish_pending.ready_tables(world.ports(), POLICY)) == []
    assert not read, "what each waits for is remembered"


@pytest.mark.parametrize("refused", [(0, 5), (5, 0)])
def test_of_several_refusals_the_one_that_leaves_a_call_open_is_raised(refused: tuple[int, int]) -> None:
    followed, watched = with_waiting()
    errors = {
        NAMES[refused[0]]: Refused("a definite no"),
        NAMES[refused[1]]: together([Refused("no"), Unreachable("no answer")], "two calls failed"),
    }

    def refuse(name: str, args: Any) -> None:
        if name == "create_table" and args[0].name.table in errors:
            raise errors[args[0].name.table]

    watched.before = refuse
    with pytest.raises(ActNow, match="two calls failed"):
        followed.follow()
    assert followed.world.lease.holder(f"{POLICY.staging}/lease") is not None

"""For an answer that nobody knows a window tries again before it does without a function; a load does not."""

from collections.abc import Callable

import pytest

from tests.support.worlds.fake_world import World
from tests.unit.replication.incremental import test_incremental
from tests.unit.replication.incremental.test_functions import JAR, a_stale_world, contents, functions
from tests.unit.replication.incremental.test_incremental import Followed
from twinhive.core.model.errors import Unexplained
from twinhive.core.step.step_base import Work
from twinhive.replication.dump.dump_store import Dump
from twinhive.replication.incremental.apply_stage import WindowApplied
from twinhive.replication.operator_requests.request_files import request_everything
from twinhive.runtime.pipeline.phases import APPLY, INCREMENTAL


def odd(*args: object, **kwargs: object) -> None:
    raise Unexplained("hm", found="java.lang.Odd", expected="an answer", next_step="see the log")


def odd_about_the_jar(monkeypatch: pytest.MonkeyPatch, world: World, call: str, path: str = JAR) -> None:
    asked: Callable[..., object] = getattr(world.source_files, call)
    monkeypatch.setattr(world.source_files, call, lambda at, *more: odd() if at == path else asked(at, *more))


def planned(followed: Followed) -> Dump:
    return followed.run_with(followed.world.ports(), INCREMENTAL[:2])["window"].dump


def applied(followed: Followed, dump: Dump, *, is_last_try: bool) -> WindowApplied:
    work = Work(followed.policy, dump=dump, holder={"run": "i"}, is_last_try=is_last_try, report=followed.log.append)
    return APPLY(work).run(followed.world.ports())


def a_new_function() -> Followed:
    followed = Followed()
    followed.world.source_files.write(JAR, b"jar")
    followed.users.create_function("f", [JAR])
    return followed


@pytest.mark.parametrize("call", ["status", "checksum"])
def test_a_window_brings_the_function_with_its_next_try(monkeypatch: pytest.MonkeyPatch, call: str) -> None:
    followed = a_new_function()
    dump = planned(followed)
    with monkeypatch.context() as meanwhile:
        odd_about_the_jar(meanwhile, followed.world, call)
        with pytest.raises(
            Unexplained, match=rf"CREATE_FUNCTION: function sales\.f: its file {JAR} could not be"
        ) as met:
            applied(followed, dump, is_last_try=False)
        assert met.value.found == "java.lang.Odd"
    applied(followed, dump, is_last_try=False)
    assert contents(followed.world, "f") == [b"jar"]


def test_a_window_leaves_it_out_after_the_last_try(monkeypatch: pytest.MonkeyPatch) -> None:
    followed = a_new_function()
    dump = planned(followed)
    odd_about_the_jar(monkeypatch, followed.world, "status")
    (said,) = applied(followed, dump, is_last_try=True).not_replicated
    assert f"function sales.f: its file {JAR} could not be looked at; next: see the message" in said
    assert "let that user read it" not in said
    assert functions(followed.world) == {}


def test_who_resyncs_everything_tries_again_too(monkeypatch: pytest.MonkeyPatch) -> None:
    followed = a_new_function()
    followed.follow()
    followed.world.replica.drop_function("sales", "f")
    request_everything(followed.world.replica_files, followed.policy, "ana")
    dump = planned(followed)
    with monkeypatch.context() as meanwhile:
        odd_about_the_jar(meanwhile, followed.world, "status")
        with pytest.raises(Unexplained, match="could not be looked at"):
            applied(followed, dump, is_last_try=False)
    applied(followed, dump, is_last_try=False)
    assert contents(followed.world, "f") == [b"jar"]


def test_a_load_leaves_it_out_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def an_odd_world() -> World:
        world = a_stale_world()
        odd_about_the_jar(monkeypatch, world, "status", "hdfs://east/jars/whole.jar")
        return world

    monkeypatch.setattr(test_incremental, "a_world", an_odd_world)
    followed = Followed()
    assert functions(followed.world) == {}
    assert any("function sales.whole: its file hdfs://east/jars/whole.jar could" in line for line in followed.log)


def test_a_function_is_dropped_by_the_next_try(monkeypatch: pytest.MonkeyPatch) -> None:
    followed = a_new_function()
    followed.follow()
    followed.users.drop_function("f")
    dump = planned(followed)
    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(followed.world.replica, "drop_function", odd)
        with pytest.raises(Unexplained, match=r"function sales\.f of the replica cannot be dropped") as met:
            applied(followed, dump, is_last_try=False)
    assert "retries by itself. If it goes on, put a file at each path" in str(met.value)
    applied(followed, dump, is_last_try=False)
    assert functions(followed.world) == {}

"""Who follows a flow through the package has to open no more modules than before."""

from collections.abc import Callable

import pytest

from tests.support.builders import a_policy
from tests.support.entered_modules import entered
from tests.support.hive.fake_metastore import InMemoryMetastore
from tests.support.kept_counts import grown
from tests.support.worlds.fake_world import a_world
from tests.unit.operations.failover.test_failover import planned, ready
from tests.unit.replication.incremental.test_incremental import Followed
from twinhive.core.model.names import partition_name
from twinhive.core.model.objects import Database
from twinhive.core.threads.parallel_map import in_threads
from twinhive.runtime.pipeline.runner import run_bootstrap

Run = Callable[[], object]


def one_insert() -> Run:
    followed = Followed()
    followed.users.insert("orders", ("a b",), [b"more"])
    return followed.follow


def an_idle_window() -> Run:
    return Followed().follow


def bootstrap_and_consolidate() -> Run:
    world = a_world()
    return lambda: run_bootstrap(a_policy(), world.ports(), {"run": "b"}, lambda line: None)


def planned_failover() -> Run:
    followed = ready(Followed())
    return lambda: planned(followed).run(followed.world.ports())


@pytest.mark.parametrize("flow", [one_insert, an_idle_window, bootstrap_and_consolidate, planned_failover])
def test_a_flow_enters_no_more_modules_and_folders_than_are_kept(flow: Callable[[], Run]) -> None:
    flow()()  # what is imported, or remembered, when it is first used is not counted
    assert grown("modules_entered", flow.__name__, entered(flow()).counts()) == []


def name_of(value: str) -> str:
    return partition_name(("p",), (value,))


def stems(run: Run) -> set[str]:
    return {module.rpartition("/")[2] for module in entered(run).modules}


def test_a_module_is_counted_once_and_its_own_calls_are_no_climbs() -> None:
    def twice() -> None:
        name_of("1")
        name_of("2")

    assert stems(twice) == {"names"}
    assert entered(twice).counts() == {"modules": 1, "folders": 1, "climbs": 0}


@pytest.mark.parametrize("calls", [1, 2])
def test_each_call_into_another_folder_is_a_climb(calls: int) -> None:
    found = entered(lambda: in_threads(name_of, ["1"] * calls, 1))
    assert found.counts() == {"modules": 2, "folders": 2, "climbs": calls}


def test_what_other_threads_enter_is_counted() -> None:
    assert {"parallel_map", "names"} < stems(lambda: in_threads(name_of, ["1", "2"], 2))


def test_what_fakes_call_is_not_counted() -> None:
    metastore = InMemoryMetastore()
    assert stems(lambda: metastore.create_database(Database("sales", None, None, {}, "{}"))) == set()

"""A first copy never stops because of one function: where the policy quarantines, it is left out and named."""

from collections.abc import Iterator, Sequence

import pytest

from tests.support.hive.hidden_objects import hide, hide_function
from tests.support.users.source_writer import SourceWriter
from tests.support.worlds.fake_world import World, a_world, tuned
from tests.unit.replication.incremental.test_functions import functions
from tests.unit.replication.incremental.test_incremental import Followed
from twinhive.core.model.changes.events import EventRow
from twinhive.core.model.errors import ActNow
from twinhive.core.model.policy import Policy
from twinhive.core.step.step_base import Work
from twinhive.operations.failover.readiness import _of_functions
from twinhive.replication.bootstrap.preflight import Preflight
from twinhive.runtime.pipeline.phases import BOOTSTRAP
from twinhive.runtime.pipeline.runner import run_phase, run_rounds

GOES_ON = tuned(on_object_error="quarantine")


@pytest.fixture
def patch() -> Iterator[pytest.MonkeyPatch]:
    with pytest.MonkeyPatch.context() as patch:
        yield patch


def users(world: World) -> SourceWriter:
    return SourceWriter(world.source, world.source_files, "sales")


def with_functions() -> World:
    world = a_world()
    for name in ("odd", "whole"):
        users(world).create_function(name)
    return world


def garble(patch: pytest.MonkeyPatch, world: World, event_type: str, after: int) -> None:
    """Let nobody read the events of a type that come after another."""
    events_after = world.source.events_after

    def read(event_id: int, limit: int) -> Sequence[EventRow]:
        rows = events_after(event_id, limit)
        return [
            EventRow(row.event_id, row.time, row.event_type, row.catalog, row.database, row.table, "{", "json-0.2")
            if row.event_type == event_type and row.event_id > after
            else row
            for row in rows
        ]

    patch.setattr(world.source, "events_after", read)


def left_out(log: Sequence[object]) -> list[str]:
    return sorted({str(line) for line in log if str(line).startswith("left out: ") and "function" in str(line)})


def test_one_that_cannot_be_read_is_left_out_and_comes_when_it_is_made_anew(patch: pytest.MonkeyPatch) -> None:
    world = with_functions()
    hide_function(patch, world.source, "sales", "odd")
    said: list[str] = []
    assert Preflight(Work(GOES_ON, report=lambda line: said.append(str(line)))).problems(world.ports()) == []
    assert any("function sales.odd" in line for line in said)
    followed = Followed(GOES_ON, world)
    assert list(functions(world)) == ["whole"]
    [told] = left_out(followed.log)
    assert "function sales.odd" in told and "cannot be read" in told and "next: drop it at the source" in told
    assert [str(one) for one in _of_functions(world.ports(), GOES_ON) if "odd" in str(one)]
    patch.undo()
    users(world).drop_function("odd")
    users(world).create_function("odd")
    followed.follow()
    assert list(functions(world)) == ["odd", "whole"]
    followed.assert_twin()


def test_with_stop_one_error_names_it_beside_tables(patch: pytest.MonkeyPatch) -> None:
    world = with_functions()
    hide_function(patch, world.source, "sales", "odd")
    assert "sales.odd" in "\n".join(map(str, Preflight(Work(tuned())).problems(world.ports())))
    hide(patch, world.source, "sales.plain")
    with pytest.raises(ActNow, match="2 tables and functions of sales cannot be copied") as caught:
        run_phase(BOOTSTRAP[1:], tuned(), world.ports(), {"run": "b"}, lambda line: None)
    assert "function sales.odd" in str(caught.value) and "table sales.plain" in str(caught.value)
    assert not [path for path in world.source_files.paths() if path.endswith("/dump.json")]


def begun(policy: Policy, world: World) -> None:
    run_phase(BOOTSTRAP, policy, world.ports(), {"run": "b"}, lambda line: None)


@pytest.mark.parametrize("event_type", ["CREATE_FUNCTION", "DROP_FUNCTION"])
def test_an_event_of_one_that_nobody_can_read_stops_nothing(event_type: str, patch: pytest.MonkeyPatch) -> None:
    world, log = with_functions(), list[object]()
    begun(GOES_ON, world)
    garble(patch, world, event_type, world.source.current_event_id())
    users(world).drop_function("odd")
    users(world).create_function("odd")
    users(world).create_function("later")
    users(world).insert("plain", None, [b"meanwhile"])
    run_rounds(GOES_ON, world.ports(), {"run": "b"}, log.append)
    there, told = set(functions(world)), left_out(log)
    if event_type == "CREATE_FUNCTION":
        assert there == {"whole"} and len(told) == 2
    else:
        assert there == {"odd", "later", "whole"} and len(told) == 1
    assert all("the function of event " in line and "next: drop it at the source" in line for line in told)


def test_with_stop_the_event_is_named(patch: pytest.MonkeyPatch) -> None:
    world = with_functions()
    begun(tuned(), world)
    garble(patch, world, "CREATE_FUNCTION", world.source.current_event_id())
    users(world).create_function("later")
    with pytest.raises(ActNow, match=r"the message of event \d+ \(CREATE_FUNCTION\) cannot be read"):
        run_rounds(tuned(), world.ports(), {"run": "b"}, lambda line: None)


def test_one_that_is_made_anew_while_it_is_copied_is_not_left_out(patch: pytest.MonkeyPatch) -> None:
    world, log = with_functions(), list[object]()
    hide_function(patch, world.source, "sales", "odd")
    begun(GOES_ON, world)
    patch.undo()
    users(world).drop_function("odd")
    users(world).create_function("odd")
    run_rounds(GOES_ON, world.ports(), {"run": "b"}, log.append)
    assert list(functions(world)) == ["odd", "whole"]
    assert left_out(log) == []

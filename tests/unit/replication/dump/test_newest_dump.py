"""A dump that cannot be read now is no dump that is not there; one of another version is, before it is loaded."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.support.worlds.fake_world import a_world
from tests.unit.replication.incremental.test_incremental import POLICY
from twinhive.core.model.errors import Missing, Refused, TwinhiveError, Unexplained, Unreachable
from twinhive.core.model.marks import PHASE, Phase
from twinhive.core.ports import WritePorts
from twinhive.operations.actions.replica_status import read_status
from twinhive.replication.dump.dump_layout import saved_events_directory
from twinhive.replication.dump.dump_store import current_dump, newest_dump
from twinhive.replication.dump.manifest import UnreadableDump
from twinhive.runtime.pipeline.phases import BOOTSTRAP, INCREMENTAL
from twinhive.runtime.pipeline.runner import run_bootstrap, run_phase


@pytest.fixture
def ports() -> WritePorts:
    """A replica that is being loaded."""
    ports = a_world().ports()
    stages = tuple(stage for stage in BOOTSTRAP if stage.name in ("preflight", "list_objects"))
    run_phase(stages, POLICY, ports, {"run": "b"}, lambda line: None)
    return ports


def manifest_of(ports: WritePorts) -> str:
    return current_dump(ports.dump_files, POLICY).layout.manifest


def failing(ports: WritePorts, error: TwinhiveError) -> None:
    """Let nobody read the dump's manifest."""
    files: Any = ports.dump_files
    original, manifest = files.read, manifest_of(ports)

    def read(path: str, *given: Any, **named: Any) -> Any:
        if path == manifest:
            raise error
        return original(path, *given, **named)

    files.read = read


UNREAD = pytest.mark.parametrize(
    "error",
    [
        Refused("access is refused", next_step="ask who refuses it"),
        Unexplained("an answer that nobody knows", next_step="look"),
        Unreachable("no answer", next_step="wait"),
    ],
    ids=["refused", "unexplained", "unreachable"],
)


@UNREAD
def test_while_loading_a_dump_that_cannot_be_read_now_does_not_end_the_window_well(
    ports: WritePorts, error: TwinhiveError
) -> None:
    """Its events are not saved then, and nobody would know before they have expired."""
    failing(ports, error)
    with pytest.raises(type(error), match=error.words.what):
        run_phase(INCREMENTAL[:1], POLICY, ports, {"run": "i"}, lambda line: None)


@UNREAD
def test_a_status_says_what_the_dump_answers(ports: WritePorts, error: TwinhiveError) -> None:
    failing(ports, error)
    if isinstance(error, Unreachable):
        with pytest.raises(Unreachable):
            read_status(ports, POLICY)
    else:
        assert read_status(ports, POLICY).dump == error.words.what


def of_another_format(fields: dict[str, Any]) -> bytes:
    return json.dumps({**fields, "format": 1}).encode()


def cut_off(fields: dict[str, Any]) -> bytes:
    return json.dumps(fields).encode()[:50]


def without_a_field(fields: dict[str, Any]) -> bytes:
    del fields["batches"]
    return json.dumps(fields).encode()


SPOILT = pytest.mark.parametrize("spoilt", [of_another_format, cut_off, without_a_field])


@SPOILT
def test_one_that_this_version_does_not_read_is_none(
    ports: WritePorts, spoilt: Callable[[dict[str, Any]], bytes]
) -> None:
    manifest = manifest_of(ports)
    ports.dump_files.write(manifest, spoilt(json.loads(ports.dump_files.read(manifest))))
    assert newest_dump(ports.dump_files, POLICY) is None
    run_phase(INCREMENTAL[:1], POLICY, ports, {"run": "i"}, lambda line: None)
    assert ports.dump_files.status(saved_events_directory(POLICY.dumps)) is None


@SPOILT
def test_while_a_load_is_under_way_one_that_this_version_does_not_read_does_not_end_the_window_well(
    ports: WritePorts, spoilt: Callable[[dict[str, Any]], bytes]
) -> None:
    """As a worker of an earlier version meets it during an upgrade."""
    run_bootstrap(POLICY, ports, {"run": "b"}, lambda line: None)
    name = POLICY.replica.database
    database = ports.replica.database(name)
    assert database is not None
    ports.replica.set_database_parameters(name, {**database.parameters, PHASE: Phase.LOADING.value})
    manifest = manifest_of(ports)
    ports.dump_files.write(manifest, spoilt(json.loads(ports.dump_files.read(manifest))))
    with pytest.raises(UnreadableDump):
        run_phase(INCREMENTAL[:1], POLICY, ports, {"run": "i"}, lambda line: None)


def test_one_that_is_removed_after_it_was_found_is_none(ports: WritePorts) -> None:
    failing(ports, Missing("gone"))
    assert newest_dump(ports.dump_files, POLICY) is None

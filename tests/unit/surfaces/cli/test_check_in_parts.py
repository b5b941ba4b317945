"""`twinhive check` says all that its parts find: one that ends early takes nothing from another."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.support.policy_terminal import Terminal
from tests.support.worlds.fake_world import REPLICA_ADDRESS
from tests.unit.operations.failover.test_readiness import READY
from twinhive.core.model.connections import Connection
from twinhive.core.model.errors import Foreign, InvalidSettings, TwinhiveError, UnknownConnection
from twinhive.core.model.quarantine import with_frozen
from twinhive.runtime.settings import load_configuration
from twinhive.surfaces.cli import check_command
from twinhive.surfaces.cli.connection_sources import remembering, troubles_of_connections

NO_POOL = InvalidSettings("there is no pool copies", found="none", expected="one", next_step="make it")


def with_a_missing_pool(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(policy: str, settings: Any) -> list[TwinhiveError]:
        return [NO_POOL]

    monkeypatch.setattr(check_command, "troubles_of_pools", missing)


def problems(terminal: Terminal, *words: str) -> list[str]:
    (checked,) = terminal.document("check", "sales", *words, code=4)["policies"]
    return [problem["what"] for problem in checked["problems"]]


@pytest.mark.parametrize("words", [["--servers"], ["--failover"], ["--servers", "--failover"]])
def test_what_files_say_is_kept_when_a_server_does_not_answer(
    published: Terminal, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    with_a_missing_pool(monkeypatch)
    published.world.source.down = True
    found = problems(published, *words)
    assert found[0] == NO_POOL.what and len(found) > 1
    assert all("no metastore answered" in what for what in found[1:])


def test_more_is_looked_at_and_not_less_is_said(published: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    def ends_early(config: Any, policy: str) -> None:
        raise InvalidSettings("nobody knows whether it is ready", found="a", expected="b", next_step="c")

    monkeypatch.setattr(check_command, "_ask_whether_ready", ends_early)
    published.world.source.guards_log = True
    fewer = problems(published, "--servers")
    assert problems(published, "--servers", "--failover") == [*fewer, "nobody knows whether it is ready"]


def test_what_two_parts_find_is_said_once(published: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    def ends_early(config: Any, policy: str) -> None:
        raise NO_POOL

    with_a_missing_pool(monkeypatch)
    monkeypatch.setattr(check_command, "_ask_servers", ends_early)
    assert problems(published, "--servers") == [NO_POOL.what]


def asked_for(terminal: Terminal) -> None:
    terminal.type("resync", "sales", "plain")


def frozen(terminal: Terminal) -> None:
    replica = terminal.world.replica
    replica.set_database_parameters("sales", with_frozen(replica.database("sales").parameters, "plain", "4 broken"))


def without_a_function(terminal: Terminal) -> None:
    terminal.users.create_function("f")


@pytest.mark.parametrize(
    ("spoil", "offered"),
    [
        (asked_for, "check sales --failover"),
        (frozen, "repair sales --quarantined"),
        (without_a_function, "check sales --servers"),
    ],
)
def test_what_stands_in_the_way_of_a_failover_is_mended_as_it_says(
    published: Terminal, spoil: Callable[[Terminal], None], offered: str
) -> None:
    published.world.replica.configurations[REPLICA_ADDRESS] |= READY
    spoil(published)
    (checked,) = published.document("check", "sales", "--failover", code=4)["policies"]
    (problem,) = checked["problems"]
    assert f"twinhive {offered}" in problem["commands"]
    if offered != "check sales --failover":
        published.type(*offered.split())
    published.type("run", "sales", "incremental")
    published.type("check", "sales", "--failover")


def test_a_connection_is_looked_for_once_also_where_it_is_not_known() -> None:
    asked: list[str] = []

    def resolve(connection_id: str) -> Connection:
        asked.append(connection_id)
        if connection_id == "west":
            raise UnknownConnection("no such connection")
        return Connection(connection_id, "m1")

    once = remembering(resolve)
    for _ in range(3):
        assert once("east").host == "m1"
        with pytest.raises(UnknownConnection):
            once("west")
    assert asked == ["east", "west"]


@pytest.mark.parametrize(("source", "problems_there"), [("airflow", 4), ("environment", 0)])
def test_a_connection_that_nobody_knows_is_a_problem_where_airflow_is_asked(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch, source: str, problems_there: int
) -> None:
    def unknown(connection_id: str) -> Connection:
        raise UnknownConnection(f"connection {connection_id} is not known")

    configuration = load_configuration(terminal.policies.directory)
    settings = configuration.policies["sales"].usable()
    monkeypatch.setenv("TWINHIVE_CONNECTIONS", source)
    assert len(troubles_of_connections(configuration, settings, unknown)) == problems_there


@pytest.mark.parametrize(("policy", "said"), [("sales", 2), ("sales_back", 1)])
def test_that_the_opposite_direction_has_no_replica_yet_is_no_problem(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch, policy: str, said: int
) -> None:
    """Nobody is told to drop the primary because of it."""
    terminal.policies.add("sales", failover={"reverse": {"dump_root": "hdfs://west/dumps"}})
    foreign = Foreign("not its database", found="a", expected="b", next_step="drop it")
    refused = InvalidSettings("something else", found="a", expected="b", next_step="c")
    monkeypatch.setattr(
        check_command, "_ask_servers", lambda config, name: check_command._Found(name, [foreign, refused])
    )
    (checked,) = terminal.document("check", policy, "--servers", code=4)["policies"]
    assert [problem["what"] for problem in checked["problems"]] == ["not its database", "something else"][-said:]
    assert ("it replicates nothing until sales has failed over" in checked["servers"]) == (policy != "sales")

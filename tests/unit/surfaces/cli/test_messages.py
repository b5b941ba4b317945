"""Messages from a terminal: published, shown before, listened to; the topic of a table."""

import json
import socket
import threading
from pathlib import Path

import pytest

from tests.support.messages.memory_broker import MemoryBroker
from tests.support.policy_terminal import Terminal, a_terminal
from twinhive.publishing.messages.publishing_messages import Publisher, PublisherRules
from twinhive.runtime.settings import load_configuration, resolve_from_environment
from twinhive.runtime.wiring.message_wiring import MessagesWiring
from twinhive.surfaces.cli.app import run


@pytest.fixture
def terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Terminal:
    return a_terminal(tmp_path, monkeypatch)


def test_what_a_dry_run_shows_is_what_a_run_sends(terminal: Terminal) -> None:
    assert "active: 0 messages sent" in terminal.type("publish", "east", "--once")
    terminal.type("sets", "mark", "east", "sales.orders", "*")
    before = terminal.world.source.current_event_id()
    shown = terminal.document("publish", "east", "--dry-run")["messages"]
    assert terminal.broker.taken == [] and terminal.world.source.current_event_id() == before
    assert terminal.document("publish", "east", "--once")["sent"] == 1
    assert shown == [{"topic": one.topic, "body": one.body} for one in terminal.broker.taken]
    assert "dry run: 0 messages" in terminal.type("publish", "east", "--dry-run")


def test_a_reader_that_writes_is_one_error_and_what_is_to_be_told_waits(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    terminal.type("publish", "east", "--once")
    terminal.type("sets", "mark", "east", "sales.orders", "*")
    reading = MemoryBroker(terminal.broker, may_write=False)
    with monkeypatch.context() as patch:
        patch.setattr(MessagesWiring, "broker", lambda wiring, reads=False: reading)
        config = str(terminal.policies.directory)
        assert run(["publish", "east", "--once", "--config", config]) == 4
    said = capsys.readouterr().err
    assert said.count("error (") == 1 and "broker memory refuses us" in said and "Traceback" not in said
    assert terminal.broker.taken == []
    assert terminal.document("publish", "east", "--once")["sent"] == 1


def test_a_listener_prints_what_comes_in(terminal: Terminal) -> None:
    terminal.type("publish", "east", "--once")
    terminal.type("sets", "mark", "east", "sales.orders", "*")

    wiring = MessagesWiring(load_configuration(terminal.policies.directory), "east", resolve_from_environment)
    rules = PublisherRules(wiring.topics, wiring.databases, socket.gethostname())
    publisher = Publisher(wiring.metastore(), wiring.broker(), rules)

    def publish_when_heard() -> None:
        while not terminal.broker.subscriptions:
            pass
        publisher.round()

    publishing = threading.Thread(target=publish_when_heard)
    publishing.start()
    printed = terminal.type("listen", "east", "sales", "--count", "1", "--kind", "SET_DONE")
    publishing.join()
    first, second = map(json.loads, printed.splitlines())
    assert first == {"listening": ["twinhive.east.sales"]}
    assert (second["topic"], second["set"]) == ("twinhive.east.sales.orders", "*")


@pytest.mark.parametrize(
    ("place", "topic"),
    [
        ("sales.orders", "twinhive.east.sales.orders"),
        ("Sales.Later", "twinhive.east.sales.later"),
        ("sales", "twinhive.east.sales"),
        ("sales.a.b", "twinhive.east.sales.a-2eb"),
        ("sales.c/d e>", "twinhive.east.sales.c-2fd-20e-3e"),
        ("sales.größe", "twinhive.east.sales.gr-c3-b6-c3-9fe"),
    ],
)
def test_a_topic_is_told(terminal: Terminal, place: str, topic: str) -> None:
    assert terminal.type("topic", "east", place).strip() == topic
    assert terminal.document("topic", "east", place)["topic"] == topic

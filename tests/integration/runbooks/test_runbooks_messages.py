"""Follow the runbooks for messages and sets: kill, stop, lose, freeze; then do what the page says."""

import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import pytest

from sandbox import Sandbox
from tests.integration.airflow_fixtures import until
from tests.integration.damage import Databases
from tests.integration.hcatalog.test_messages import Scene, broker, scene
from tests.integration.oncall import OnCall
from tests.support.runbooks import Section, runbooks, says
from tests.support.users.source_writer import SourceWriter
from tests.support.users.warehouse import Warehouse
from twinhive.core.model.names import TableName
from twinhive.operations.monitoring.publisher_alerts import publisher_alerts, standing_line
from twinhive.operations.monitoring.publishers import PublisherSeen
from twinhive.publishing.sets.marking_sets import MarkSet
from twinhive.runtime.settings import load_configuration, resolve_from_environment
from twinhive.runtime.wiring.publisher_wiring import measure_publishers
from twinhive.surfaces.cli.app import run

pytestmark = pytest.mark.sandbox
__all__ = ["broker", "scene"]


@dataclass
class MessagesOnCall:
    """Look after one cluster's publisher, with one section of the page at hand."""

    scene: Scene
    section: Section
    capfd: pytest.CaptureFixture[str]
    _met: set[str] = field(default_factory=set)

    def seen(self) -> PublisherSeen:
        """Return what the monitor sees now."""
        configuration = load_configuration(self.scene.files.directory)
        [found] = measure_publishers(configuration, resolve_from_environment, time.time(), 20.0)
        return found

    def monitor_says(self) -> str:
        """Return what the monitor finds wrong now, without its two minutes of patience."""
        return "\n".join(str(one.error) for one in publisher_alerts([self.seen()]))

    def read(self, text: str, *quoted: str) -> None:
        """Find in a text what the section quotes; `quoted` are some words of each line."""
        for words in quoted:
            line = self.section.line(words)
            assert says(text, line), f"the page quotes {line!r}; it says\n{text}"
            self._met.add(line)

    def unread(self) -> list[str]:
        """Return the lines that nobody has met."""
        return [line for line in self.section.quoted if line not in self._met]

    def type(self, *words: str) -> str:
        """Type a command; return what it prints."""
        self.capfd.readouterr()
        run([*words, "--config", str(self.scene.files.directory)])
        return self.capfd.readouterr().out

    def until_it_says(self, words: str) -> str:
        """Wait until the monitor says something; return all that it says."""
        return str(until(lambda: words in (said := self.monitor_says()) and said, f"the monitor says {words}", 60, 0.5))

    def until_all_is_told(self) -> None:
        """It is over when: all is told, and the monitor finds nothing."""
        until(lambda: standing_line(self.seen()) == "all is told", "all is told", 60, 0.5)
        assert self.monitor_says() == ""


@pytest.fixture
def person(scene: Scene, capfd: pytest.CaptureFixture[str], request: pytest.FixtureRequest) -> Iterator[MessagesOnCall]:
    [title] = request.node.get_closest_marker("runbook").args
    failed = request.session.testsfailed
    clusters = (scene.files.directory / "clusters.yaml").read_text()
    scene.files.write("clusters.yaml", clusters.replace("{broker: bus,", "{broker: bus, max_silence: 3,"))
    person = MessagesOnCall(scene, runbooks()[title], capfd)
    yield person
    if request.session.testsfailed == failed:
        assert person.unread() == []


@pytest.mark.runbook("A publisher is behind, or does not run")
def test_a_publisher_is_behind(person: MessagesOnCall) -> None:
    process = person.scene.process("one")
    person.scene.wait_until_active("one")
    person.scene.ends(process, signal.SIGKILL)
    person.scene.add("1")
    person.read(person.until_it_says("is not told"), "is not told", "events wait to be told")
    assert "day=1" in person.type("publish", "east", "--dry-run")
    process = person.scene.process("one")
    person.until_all_is_told()
    assert person.scene.texts(1) == ["ADD_PARTITION day=1/region=us"]
    assert person.scene.ends(process, signal.SIGTERM) == 0


@pytest.mark.runbook("A message broker is down")
def test_a_broker_is_down(person: MessagesOnCall) -> None:
    process = person.scene.process("one")
    person.scene.wait_until_active("one")
    person.scene.broker.kill()
    person.scene.add("1")
    person.read(person.until_it_says("does not answer"), "is not told")
    assert process.poll() is None
    person.scene.broker.start()
    again = person.scene.reader.subscribe([f"twinhive.east.{person.scene.table.database}"])
    assert person.scene.texts(1, again) == ["ADD_PARTITION day=1/region=us"]
    person.until_all_is_told()
    again.close()
    assert person.scene.ends(process, signal.SIGTERM) == 0


@pytest.mark.runbook("Events were gone before they were told")
def test_events_were_gone(person: MessagesOnCall, sandbox: Sandbox) -> None:
    process = person.scene.process("one")
    person.scene.wait_until_active("one")
    person.scene.ends(process, signal.SIGKILL)
    metastore = person.scene.metastore
    first = metastore.current_event_id() + 1
    person.scene.add("1")
    last = metastore.current_event_id()
    MarkSet(person.scene.table, "day=1", "t").run(metastore)
    with Databases(sandbox).lost_events(first, last):
        person.read(person.until_it_says("were gone"), "were gone before they were told")
        process = person.scene.process("one")
        person.read(person.until_it_says("never told"), "were never told")
        texts = person.scene.texts(2)
        assert texts[0].startswith("GAP") and texts[1] == "SET_DONE day=1"
    assert "day=1" in person.type("sets", "list", "east", person.scene.table.database)
    assert person.scene.ends(process, signal.SIGTERM) == 0


@pytest.mark.airflow
@pytest.mark.runbook("A set is held", watch={"held_for": 1})
def test_a_set_is_held(oncall: OnCall, writers: SourceWriter, west: Warehouse, assert_twin: Callable[[], None]) -> None:
    database = west.client.get_database(oncall.policy)
    database.parameters["twinhive.quarantine.orders"] = "1 no room"
    west.client.alter_database(oncall.policy, database)
    MarkSet(TableName(oncall.policy, "orders"), "day=1", "t").run(writers.metastore)

    oncall.read(oncall.green_run(), "window", "is held")
    assert "table orders is frozen" in oncall.operate("status")
    red = oncall.airflow.measure()
    oncall.read(red, "alert", "not shown on the replica", "since")
    oncall.operate("resync", table="orders")
    oncall.green_run()
    oncall.green_run()
    shown = west.client.get_partition_names(oncall.policy, "twinhive_sets", -1)
    assert shown == ["table_name=orders/spec=day%3D1"]
    assert "held" not in oncall.operate("status")
    assert_twin()

"""Metrics arrive where Airflow's configuration sends them, with the policy's name; nobody waits for them long."""

import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from airflow.sdk.observability import stats
from airflow.sdk.observability.metrics import stats_utils
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.metrics.v1.metrics_pb2 import AggregationTemporality

from twinhive.core.model.errors import LogBroken, Unreachable
from twinhive.operations.monitoring.lag import PolicyLag
from twinhive.operations.monitoring.monitored_policy import Limits
from twinhive.operations.monitoring.policy_health import WatchedPolicy
from twinhive.operations.monitoring.publishers import PublisherSeen
from twinhive.publishing.messages.publisher_lag import Behind
from twinhive.surfaces.airflow.monitor import metrics


class Receiver:
    """Be a StatsD server: take datagrams, and hold them until they are asked for."""

    def __init__(self) -> None:
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        self.port: int = self.socket.getsockname()[1]

    def lines(self) -> set[str]:
        """Return what has arrived."""
        found: set[str] = set()
        self.socket.settimeout(0.2)
        with suppress(TimeoutError):
            while True:
                found |= set(self.socket.recv(65_536).decode().splitlines())
        return found


@pytest.fixture
def statsd(monkeypatch: pytest.MonkeyPatch) -> Iterator[Receiver]:
    receiver = Receiver()
    settings = {"STATSD_ON": "True", "STATSD_HOST": "127.0.0.1", "STATSD_PORT": str(receiver.port)}
    configure(monkeypatch, **settings, STATSD_INFLUXDB_ENABLED="True")
    yield receiver
    receiver.socket.close()


@pytest.fixture(autouse=True)
def as_before(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Leave no metrics of these tests to others."""
    monkeypatch.setattr(metrics, "_unsent", metrics._Unsent())
    yield
    stats.initialize(factory=stats_utils.NoStatsLogger, export_legacy_names=False)  # type: ignore[attr-defined]


def configure(monkeypatch: pytest.MonkeyPatch, **settings: str) -> None:
    """Configure Airflow's metrics as a task's process does when it starts."""
    for key, value in settings.items():
        monkeypatch.setenv(f"AIRFLOW__METRICS__{key}", value)
    stats.initialize(factory=stats_utils.get_stats_factory(), export_legacy_names=False)


WATCHED = WatchedPolicy({"a": "why"}, pending=3, pending_age=120.0, external_age=60.0, free_bytes=999)


def send_all() -> None:
    following = PolicyLag(
        "sales", 0.0, "east/sales", "west/sales", "following", 7, 9, 2, 61.5, Limits(60.0, 3600.0, 1000), WATCHED
    )
    dead = PolicyLag("dead", 0.0, phase="unreachable", error=Unreachable("no answer"))
    metrics.lags_measured([following, dead])
    metrics.copies_stalled([following, dead])
    metrics.failures_open(["sales"], {("sales", "act_now"): 2})
    metrics.monitor_was_here(1_900_000_000.0)
    metrics.message_failed("sales")
    metrics.copied("sales", "incremental", 3, 4096)
    metrics.applied("sales", "incremental", 12)
    metrics.failed("sales", "bootstrap", "Foreign", act_now=True)
    metrics.failed("sales", "incremental", "Unreachable", act_now=False)


def test_publishers_are_told_as_numbers_and_as_trouble_where_there_are_none(statsd: Receiver) -> None:
    well = PublisherSeen("east", 100.0, Behind("one", 7, 9, 2, since=40))
    never, gone = PublisherSeen("west", 100.0), Behind("one", 7, 9, lost=LogBroken("gone"))
    metrics.publishers_seen([well, never, PublisherSeen("north", 100.0, gone)])
    lines = {line.removeprefix("airflow.twinhive.") for line in statsd.lines()}
    assert {line for line in lines if line.startswith("publisher.") and ".limit." not in line} == {
        "publisher.behind.events,cluster=east:2|g",
        "publisher.behind.seconds,cluster=east:60.0|g",
        "publisher.trouble,cluster=east:0|g",
        "publisher.trouble,cluster=west:1|g",
        "publisher.trouble,cluster=north:1|g",
    }


def test_statsd_receives_every_metric_with_its_tags(statsd: Receiver) -> None:
    send_all()
    assert statsd.lines() == {
        "airflow.twinhive.policy.trouble,policy=sales:0|g",
        "airflow.twinhive.policy.trouble,policy=dead:1|g",
        "airflow.twinhive.lag.seconds,policy=sales:61.5|g",
        "airflow.twinhive.lag.events,policy=sales:2|g",
        "airflow.twinhive.lag.limit.seconds,policy=sales:60.0|g",
        "airflow.twinhive.copies.stalled,policy=sales:0|g",
        "airflow.twinhive.copies.stalled,policy=dead:0|g",
        "airflow.twinhive.tables.quarantined,policy=sales:1|g",
        "airflow.twinhive.external.pending,policy=sales:3|g",
        "airflow.twinhive.external.pending.seconds,policy=sales:120.0|g",
        "airflow.twinhive.external.age.seconds,policy=sales:60.0|g",
        "airflow.twinhive.external.limit.seconds,policy=sales:3600.0|g",
        "airflow.twinhive.replica.free.bytes,policy=sales:999|g",
        "airflow.twinhive.replica.free.limit.bytes,policy=sales:1000|g",
        "airflow.twinhive.failures.open,policy=sales,family=act_now:2|g",
        "airflow.twinhive.failures.open,policy=sales,family=try_again:0|g",
        "airflow.twinhive.monitor.at:1900000000.0|g",
        "airflow.twinhive.messages.failed,policy=sales:1|c",
        "airflow.twinhive.files.copied,policy=sales,phase=incremental:3|c",
        "airflow.twinhive.bytes.copied,policy=sales,phase=incremental:4096|c",
        "airflow.twinhive.events.applied,policy=sales,phase=incremental:12|c",
        "airflow.twinhive.failures,policy=sales,phase=bootstrap,kind=Foreign,family=act_now:1|c",
        "airflow.twinhive.failures,policy=sales,phase=incremental,kind=Unreachable,family=try_again:1|c",
    }


def test_nothing_copied_is_not_counted(statsd: Receiver) -> None:
    metrics.copied("sales", "incremental", 0, 0)
    metrics.applied("sales", "incremental", 0)
    assert statsd.lines() == set()


def test_a_name_that_cannot_be_resolved_costs_nothing_but_the_metrics(monkeypatch: pytest.MonkeyPatch) -> None:
    configure(monkeypatch, STATSD_ON="True", STATSD_HOST="nobody.invalid", STATSD_PORT="8125")
    send_all()


class Collector(ThreadingHTTPServer):
    """Be an OpenTelemetry collector (OTLP over HTTP)."""

    def __init__(self) -> None:
        self.bodies: list[bytes] = []
        super().__init__(("127.0.0.1", 0), _Export)

    def points(self) -> dict[str, list[tuple[dict[str, str], float]]]:
        """Return the points of each metric that has arrived: attributes and value."""
        found: dict[str, list[tuple[dict[str, str], float]]] = {}
        for body in self.bodies:
            for metric in _metrics(ExportMetricsServiceRequest.FromString(body)):
                data = metric.sum if metric.HasField("sum") else metric.gauge
                for point in data.data_points:
                    tags = {one.key: one.value.string_value for one in point.attributes}
                    found.setdefault(metric.name, []).append((tags, point.as_int or point.as_double))
        return found

    def temporalities(self) -> set[int]:
        """Return whether counters say what was added, or sums since the process began."""
        found = [metric for body in self.bodies for metric in _metrics(ExportMetricsServiceRequest.FromString(body))]
        return {metric.sum.aggregation_temporality for metric in found if metric.HasField("sum")}


class _Export(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        self.server.bodies.append(self.rfile.read(int(self.headers["Content-Length"])))  # type: ignore[attr-defined]
        self.send_response(200)
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        pass


def _metrics(request: Any) -> list[Any]:
    scopes = [scope for resource in request.resource_metrics for scope in resource.scope_metrics]
    return [metric for scope in scopes for metric in scope.metrics]


@pytest.fixture
def collector() -> Iterator[Collector]:
    server = Collector()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def opentelemetry(monkeypatch: pytest.MonkeyPatch, port: int) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{port}")
    configure(monkeypatch, OTEL_ON="True")


def in_a_tasks_process(do: Callable[[], int]) -> int:
    """Do something in a process that ends as Airflow ends a task's: no hook of any library runs; return its answer."""
    child = os.fork()
    if child == 0:
        os._exit(do())
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_opentelemetry_receives_what_a_task_has_sent_before_its_process_ends(
    monkeypatch: pytest.MonkeyPatch, collector: Collector
) -> None:
    def task() -> int:
        send_all()
        metrics.flush()
        return 0

    monkeypatch.setenv("OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE", "delta")
    opentelemetry(monkeypatch, collector.server_port)
    assert in_a_tasks_process(task) == 0
    points = collector.points()
    assert collector.temporalities() == {AggregationTemporality.AGGREGATION_TEMPORALITY_DELTA}
    assert ({"policy": "sales"}, 61.5) in points["airflow.twinhive.lag.seconds"]
    assert points["airflow.twinhive.bytes.copied"] == [({"policy": "sales", "phase": "incremental"}, 4096)]
    assert len(points["airflow.twinhive.failures"]) == 2


@pytest.fixture
def silent_port() -> Iterator[int]:
    """The port of a collector that takes connections, and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener.getsockname()[1]


def test_a_collector_that_does_not_answer_is_waited_for_once(
    monkeypatch: pytest.MonkeyPatch, silent_port: int, caplog: pytest.LogCaptureFixture
) -> None:
    def task() -> int:
        for _ in range(20):
            metrics.applied("sales", "incremental", 1)
            metrics.flush()
        return sum("no answer after 0.2 s" in record.getMessage() for record in caplog.records)

    monkeypatch.setattr(metrics, "_FLUSH_SECONDS", 0.2)
    opentelemetry(monkeypatch, silent_port)
    began = time.monotonic()
    assert in_a_tasks_process(task) == 1
    # Twenty times in vain would take four seconds.
    assert time.monotonic() - began < 3

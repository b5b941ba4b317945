"""How far many replicas are behind, and who has to look at what: over clusters in memory that die and hang."""

import json
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tests.support.builders import a_policy, a_table
from tests.support.hive.fake_log import START_OF_TIME
from tests.support.users.source_writer import SourceWriter
from tests.support.worlds.fake_world import World, a_world
from twinhive.core.model.changes.events import Position
from twinhive.core.model.errors import ActNow
from twinhive.core.model.failover.fence import FENCED, QUOTA, FenceMark, FenceRules
from twinhive.core.model.failover.left_mark import LEFT_FOR, LeftMark
from twinhive.core.model.human_readable import spoken_time
from twinhive.core.model.marks import ReplicaState
from twinhive.core.model.objects import Database
from twinhive.core.model.policy import DatabaseAddress, Policy
from twinhive.hive.adapters.hive.hive_source_marker import MetastoreMarker
from twinhive.hive.events.reader import read_events
from twinhive.operations.failover.promotion import How, Promotion
from twinhive.operations.monitoring.lag import PolicyLag, measure
from twinhive.operations.monitoring.lag_alerts import alerts_of, state_line
from twinhive.operations.monitoring.monitored_policy import Follower, Limits
from twinhive.replication.notification_log.event_backlog import Counted, NotApplied, recalled, remembered
from twinhive.replication.notification_log.log_pages import LogPages
from twinhive.replication.operator_requests.request_files import pause, request_table, unpause
from twinhive.runtime.pipeline.phases import INCREMENTAL
from twinhive.runtime.pipeline.runner import run_bootstrap, run_phase

PATIENCE = 20.0
FOLLOWS_BACK = {"twinhive.policy": "sales_back", "twinhive.phase": "following"}


def policy_of(database: str) -> Policy:
    return a_policy(name=database, source=DatabaseAddress("east", database), replica=DatabaseAddress("west", database))


class Many:
    """Several databases of one source, each with its replica."""

    def __init__(self) -> None:
        self.world = a_world()
        self.world.source.create_database(Database("stock", None, None, {}, thrift="{}"))
        self.world.source.create_table(a_table("stock.items"))
        self.policies = {name: policy_of(name) for name in ("sales", "stock")}
        self.max_lag: dict[str, float] = {}
        self.memory: dict[str, Any] = {}

    def load(self, *names: str) -> None:
        for name in names or self.policies:
            run_bootstrap(self.policies[name], self.world.ports(), {"run": "b"}, lambda line: None)

    def follow(self, name: str) -> None:
        run_phase(INCREMENTAL, self.policies[name], self.world.ports(), {"run": "i"}, lambda line: None)

    def write(self, database: str, table: str, times: int = 1) -> None:
        for _ in range(times):
            SourceWriter(self.world.source, self.world.source_files, database).insert(table, None, [b"x"])

    def age(self, database: str, position: int) -> int:
        """Return the age of the first event after a position that names a database."""
        rows = self.world.source.events_after(position, 10_000)
        return self.now - next(row.time for row in rows if row.database == database)

    @property
    def now(self) -> int:
        """Return a time at which the newest event is 10 s old."""
        return START_OF_TIME + self.world.source.current_event_id() + 10

    def measured(self, patience: float = PATIENCE, **worlds: World) -> dict[str, PolicyLag]:
        """Measure all; `worlds` are other clusters for some of the policies."""
        followers = [
            Follower(policy, worlds.get(name, self.world).ports(), Limits(self.max_lag.get(name)))
            for name, policy in self.policies.items()
        ]
        found = {lag.policy: lag for lag in measure(followers, self.now, patience, recalled(self.memory))}
        counted = {name: lag.counted for name, lag in found.items() if lag.counted}
        self.memory = json.loads(json.dumps(remembered(counted)))
        return found

    def alerts(self, **worlds: World) -> dict[str, str]:
        return {alert.policy: alert.kind for alert in alerts_of(list(self.measured(**worlds).values()))}


@pytest.fixture
def many() -> Many:
    return Many()


def test_what_the_database_of_a_policy_has_not_got_is_its_lag(many: Many) -> None:
    many.load()
    at = many.world.source.current_event_id()
    many.write("sales", "plain", 3)
    found = many.measured()
    sales, stock = found["sales"], found["stock"]
    own = [row for row in many.world.source.events_after(at, 100) if row.database == "sales"]
    assert sales.lag_events == len(own) >= 3
    assert sales.lag_seconds == many.now - own[0].time
    assert sales.newest == many.world.source.current_event_id() > sales.replicated
    assert (stock.lag_events, stock.lag_seconds, stock.phase) == (0, 0, "following")
    many.follow("sales")
    assert many.measured()["sales"].lag_seconds == 0


def test_what_is_staged_is_late_and_not_at_risk(many: Many) -> None:
    many.load()
    many.write("sales", "plain", 2)
    before = many.measured()["sales"]
    assert (before.rpo_events, before.rpo_seconds) == (before.lag_events, before.lag_seconds)
    run_phase(INCREMENTAL[:2], many.policies["sales"], many.world.ports(), {"run": "i"}, lambda line: None)
    staged = many.measured()["sales"]
    assert (staged.rpo_events, staged.rpo_seconds) == (0, 0)
    assert (staged.lag_events, staged.replicated) == (before.lag_events, before.replicated)
    end = many.world.source.current_event_id()
    many.write("sales", "plain")
    later = many.measured()["sales"]
    assert later.rpo_events == (later.lag_events or 0) - (before.lag_events or 0) > 0
    assert later.rpo_seconds == many.age("sales", end)
    many.policies["sales"] = replace(many.policies["sales"], fingerprint="another text")
    other = many.measured()["sales"]
    assert other.rpo_events == other.lag_events


def test_tables_that_the_policy_leaves_out_do_not_count(many: Many) -> None:
    many.policies["sales"] = replace(many.policies["sales"], exclude=("plain",))
    many.load()
    many.write("sales", "plain")
    assert many.measured()["sales"].lag_events == 0


def test_an_event_whose_message_is_broken_is_not_applied_either(many: Many) -> None:
    many.load()
    many.world.source._log.emit("ALTER_TABLE", "sales", "plain", {})
    row = many.world.source._log.rows[-1]
    many.world.source._log.rows[-1] = replace(row, message="{", table="plain")
    assert many.measured()["sales"].lag_events == 1


def test_one_log_is_read_once_for_all(many: Many) -> None:
    many.load()
    many.write("sales", "plain", 5)
    calls: list[int] = []
    read = many.world.source.events_after

    def counted(event_id: int, limit: int) -> Any:
        calls.append(event_id)
        return read(event_id, limit)

    many.world.source.events_after = counted
    many.policies |= {f"copy{number}": replace(many.policies["sales"], name=f"copy{number}") for number in range(50)}
    many.measured()
    # The page is fetched in small pieces: its rows come with their messages.
    assert len(calls) == len(set(calls)) <= 8


def test_of_the_pages_of_a_log_the_names_are_kept_and_the_messages_forgotten(many: Many) -> None:
    many.load()
    many.write("sales", "plain", 100)
    source = many.world.source
    pages = LogPages(source, source.current_event_id(), {"sales"})
    rows = list(read_events(pages, Position(0)))
    assert [row.event_id for row in rows] == [row.event_id for row in source.events]
    assert [row.position for row in rows] == [row.position for row in source.events]
    assert not any(row.message for row in rows)


def test_a_rename_out_of_the_scope_counts_though_its_message_is_forgotten(many: Many) -> None:
    many.policies["sales"] = replace(many.policies["sales"], exclude=("away",))
    many.load()
    SourceWriter(many.world.source, many.world.source_files, "sales").rename_table("plain", "away")
    assert many.measured()["sales"].lag_events == 1


@pytest.mark.thorough
def test_of_a_paused_policy_no_more_is_read_than_how_old_its_oldest_event_is(many: Many) -> None:
    many.load()
    many.write("sales", "plain", 1_000)
    del many.policies["stock"]
    pause(many.world.replica_files, many.policies["sales"], "upgrade", "ann")
    read, asked = many.world.source.events_after, list[int]()
    many.world.source.events_after = lambda after, limit: asked.append(limit) or read(after, limit)
    measured = many.measured()["sales"]
    assert measured.paused == "upgrade" and measured.at_least and measured.lag_events <= 50
    assert sum(asked) <= 700


def test_of_a_replica_that_is_very_far_behind_the_age_is_exact_and_the_number_is_a_lower_bound(many: Many) -> None:
    many.load()
    at = many.measured()["sales"].replicated
    for number in range(4_000):
        many.world.source._log.emit("INSERT", "sales" if number % 2 else "stock", "t", {})
    sales = many.measured()["sales"]
    assert sales.at_least and 1_000 < sales.lag_events < 2_000
    assert sales.lag_seconds == many.age("sales", at)
    assert "+ events behind" in state_line(sales)


def test_a_log_that_goes_on_without_the_policy_for_too_long_counts_from_where_it_was_not_read(many: Many) -> None:
    many.load()
    at = many.measured()["sales"].replicated
    for _ in range(10_050):
        many.world.source._log.emit("INSERT", "stock", "items", {})
    sales = many.measured()["sales"]
    assert (sales.lag_events, sales.at_least) == (0, True)
    assert sales.lag_seconds == many.now - (START_OF_TIME + at + 10_001)


def test_replicas_that_do_not_follow_have_a_phase_and_no_lag(many: Many) -> None:
    many.load("sales")
    stock = many.measured()["stock"]
    assert (stock.phase, stock.lag_seconds, stock.lag_events, stock.replicated) == ("absent", None, None, None)
    many.world.replica.create_database(
        Database(
            "stock",
            None,
            None,
            {"twinhive.phase": "loading", "twinhive.policy": "stock", "twinhive.source.log": "log-east"},
            thrift="{}",
        )
    )
    assert many.measured()["stock"].phase == "loading"
    # Neither has promised anything yet.
    many.max_lag = {"stock": 1}
    assert many.alerts() == {}


def test_a_replica_that_was_there_and_is_gone_is_said(many: Many) -> None:
    many.load()
    many.write("stock", "items")
    many.follow("stock")
    del many.world.replica._databases["stock"]
    found = many.measured()["stock"]
    assert "is gone" in found.trouble and "stock.bootstrap" in str(found.error.next_step)
    assert many.alerts() == {"stock": "trouble"}


def test_lag_beyond_what_the_policy_allows_is_an_alert_and_a_pause_is_none(many: Many) -> None:
    many.load()
    many.write("sales", "plain")
    assert many.alerts() == {}
    many.max_lag = {"sales": 5, "stock": 5}
    [alert] = alerts_of(list(many.measured().values()))
    assert (alert.policy, alert.kind) == ("sales", "late")
    assert "at most 5 s" in str(alert.error) and "airflow dags unpause sales.incremental" in str(alert.error)
    many.max_lag = {"sales": 1e9}
    assert many.alerts() == {}
    many.max_lag = {"sales": 5}
    pause(many.world.replica_files, many.policies["sales"], "moving house", "ann")
    assert many.alerts() == {}
    sales = many.measured()["sales"]
    assert sales.too_late and sales.paused == "moving house" and "paused: moving house" in state_line(sales)


def test_an_old_primary_that_is_written_is_an_alert_until_it_is_a_replica(many: Many) -> None:
    many.load()
    many.write("stock", "items")
    parameters = many.world.replica.database("sales").parameters
    position = ReplicaState.read(parameters).position
    promotion = Promotion("log-east", position, "log-west", Position(1), How.PLANNED, "sales")
    many.world.replica.set_database_parameters("sales", promotion.written(parameters))
    [alert] = alerts_of(list(many.measured().values()))
    assert "does not say that west/sales has taken over" in str(alert.error)
    MetastoreMarker(many.world.source).leave("sales", LeftMark("sales", "west/sales"))
    assert many.alerts() == {}, "the mark itself is no writer"
    assert many.measured()["sales"].phase == "promoted"
    many.write("sales", "plain")
    [alert] = alerts_of(list(many.measured().values()))
    assert (alert.policy, alert.kind) == ("sales", "trouble")
    assert "east/sales is written" in str(alert.error) and "2 events" in str(alert.error.found)
    old = many.world.source.database("sales")
    many.world.source.set_database_parameters("sales", {**old.parameters, **FOLLOWS_BACK})
    assert many.alerts() == {}
    many.world.source.expire_events(many.world.source.current_event_id())
    assert "sales" not in many.alerts(), "a gap in the log of a source that nobody follows"


def test_a_source_that_others_have_left_or_that_is_a_replica_is_an_alert(many: Many) -> None:
    many.load()
    source = many.world.source
    before = source.database("sales").parameters
    for said, of_it in ((FOLLOWS_BACK, "is itself a replica"), ({LEFT_FOR: "sales_n:north/sales"}, "two primaries")):
        source.set_database_parameters("sales", {**before, **said})
        [alert] = alerts_of(list(many.measured().values()))
        assert (alert.policy, alert.kind) == ("sales", "trouble") and of_it in str(alert.error)
    source.set_database_parameters("sales", before)
    assert many.alerts() == {}


def test_a_source_that_stays_fenced_is_an_alert_until_it_is_opened(many: Many) -> None:
    many.load()
    many.policies["sales"] = replace(many.policies["sales"], fence=FenceRules((QUOTA,)))
    source = many.world.source
    before = source.database("sales").parameters
    for hours, alerts in ((1, {}), (3, {"sales": "trouble"})):
        since = int(many.now) - hours * 3600
        fenced = str(FenceMark("sales", "t", since, "hdfs://west/n"))
        source.set_database_parameters("sales", {**before, FENCED: fenced})
        assert many.alerts() == alerts
    [alert] = alerts_of(list(many.measured().values()))
    assert "is fenced, and its replica has not taken over" in str(alert.error) and "--abort" in str(alert.error)
    source.set_database_parameters("sales", before)
    assert many.alerts() == {}


def test_somebody_elses_database_is_an_alert(many: Many) -> None:
    many.load("sales")
    many.world.replica.create_database(Database("stock", None, None, {}, thrift="{}"))
    found = many.measured()["stock"]
    assert found.phase == "unusable" and "does not belong to policy stock" in found.trouble
    assert many.alerts() == {"stock": "trouble"}


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda log: log.expire(log.last_event_id - 1), id="a gap"),
        pytest.param(lambda log: setattr(log, "last_event_id", 3), id="an older log"),
    ],
)
def test_a_log_that_cannot_be_read_on_is_an_alert(many: Many, damage: Callable[[Any], None]) -> None:
    many.load("sales")
    many.write("sales", "plain", 3)
    damage(many.world.source._log)
    assert many.alerts() == {"sales": "trouble"}
    assert many.measured()["sales"].lag_seconds is None


@pytest.mark.parametrize("part", ["source", "replica", "replica_files"])
def test_a_dead_server_makes_its_own_policies_unreachable_and_no_others(many: Many, part: str) -> None:
    many.load()
    many.write("sales", "plain")
    other = a_world()
    for name in ("source", "replica"):
        getattr(other, name).configurations = {f"other-{name}:9083": {}}
    for files in (other.source_files, other.replica_files):
        files._tree.root = f"{files.root}-other"
    getattr(other, part).down = True
    found = many.measured(stock=other)
    assert (found["stock"].phase, found["sales"].phase) == ("unreachable", "following")
    assert found["sales"].lag_events > 0
    assert many.alerts(stock=other) == {"stock": "unreachable"}


def test_a_server_that_hangs_costs_its_patience_and_holds_back_nobody(many: Many) -> None:
    many.load()
    other = a_world()
    other.source.configurations = {"other:9083": {}}
    never = threading.Event()
    other.source.log_id = never.wait
    began = time.monotonic()
    found = many.measured(patience=0.05, stock=other)
    assert time.monotonic() - began < 5
    assert found["stock"].phase == "unreachable"
    assert "the metastore at other:9083 did not answer in time" in found["stock"].trouble
    assert found["sales"].lag_seconds == 0
    never.set()


@pytest.mark.parametrize(
    ("seconds", "said"), [(0, "0 s"), (59.7, "1 min"), (200, "3 min 20 s"), (190_800, "2 d 5 h"), (86_460, "1 d 1 min")]
)
def test_lengths_of_time_are_said_as_people_do(seconds: float, said: str) -> None:
    assert spoken_time(seconds) == said


def test_a_run_is_wanted_for_a_request_and_in_turn_for_events_that_wait(many: Many) -> None:
    many.load()
    assert not many.measured()["sales"].wants_a_run
    request_table(many.world.replica_files, many.policies["sales"], "plain", "ann")
    assert many.measured()["sales"].wants_a_run and not many.measured()["stock"].wants_a_run
    wanted = {f"db{number}": turns_of(f"db{number}") for number in range(50)}
    assert all(len(minutes) == 2 for minutes in wanted.values())
    assert {minutes[0] for minutes in wanted.values()} == {0, 1, 2, 3, 4}
    late = PolicyLag("db0", wanted["db0"][0] * 60.0, phase="following", lag_seconds=120)
    assert late.wants_a_run and not replace(late, lag_seconds=119).wants_a_run
    for held in ({"paused": "moving house"}, {"phase": "loading"}, {"error": ActNow("a gap")}):
        assert not replace(late, **held).wants_a_run


def turns_of(policy: str) -> list[int]:
    """Return in which of ten minutes a run is wanted of a policy that waits."""
    lag = PolicyLag(policy, 0, phase="following", lag_seconds=120)
    return [minute for minute in range(10) if replace(lag, at=minute * 60.0).wants_a_run]


def emit(many: Many, times: int, database: str = "sales") -> None:
    for _ in range(times):
        many.world.source._log.emit("INSERT", database, "t", {})


def rows_asked_for(many: Many) -> Callable[[], int]:
    """Return what says how many rows the source was asked for since it was called last."""
    read, asked = many.world.source.events_after, list[int]()

    def counted(event_id: int, limit: int) -> Any:
        rows = read(event_id, limit)
        asked.append(len(rows))
        return rows

    def since() -> int:
        total = sum(asked)
        asked.clear()
        return total

    many.world.source.events_after = counted
    return since


def test_what_was_counted_is_not_read_again_as_long_as_the_policy_stands_still(many: Many) -> None:
    many.load()
    del many.policies["stock"]
    emit(many, 2_500)
    asked = rows_asked_for(many)
    first = many.measured()["sales"]
    assert first.lag_events == 2_500 and asked() > 2_500
    assert many.measured()["sales"].lag_events == 2_500 and asked() <= 302
    emit(many, 20)
    again = many.measured()["sales"]
    assert (again.lag_events, again.at_least) == (2_520, False) and asked() <= 330
    oldest = many.age("sales", again.replicated)
    assert again.lag_seconds == oldest and asked()
    emit(many, 1_000)
    more = many.measured()["sales"]
    assert (more.lag_events, more.at_least) == (3_000, True) and asked() <= 1_000
    emit(many, 1_000)
    assert many.measured()["sales"].lag_seconds == oldest + 2_000 and asked() == 2


def test_of_a_log_that_goes_on_without_the_policy_nothing_is_read_again_either(many: Many) -> None:
    many.load()
    del many.policies["stock"]
    emit(many, 10_050, "stock")
    asked = rows_asked_for(many)
    first = many.measured()["sales"]
    assert first.at_least and asked() > 10_000
    again = many.measured()["sales"]
    assert (again.lag_events, again.at_least) == (0, True) and again.lag_seconds == first.lag_seconds
    assert asked() == 2


def test_what_was_counted_counts_for_one_position_and_one_choice_of_tables_only(many: Many) -> None:
    many.load()
    many.write("sales", "plain", 200)
    assert many.measured()["sales"].lag_events > 200
    many.policies["sales"] = replace(many.policies["sales"], exclude=("plain",))
    assert many.measured()["sales"].lag_events == 0
    many.policies["sales"] = policy_of("sales")
    assert many.measured()["sales"].lag_events > 200
    many.follow("sales")
    many.write("sales", "plain")
    assert many.measured()["sales"].lag_events <= 2


def test_events_that_expire_behind_a_count_are_a_gap_all_the_same(many: Many) -> None:
    many.load()
    del many.policies["stock"]
    emit(many, 400)
    at = many.measured()["sales"].replicated
    many.world.source._log.rows[:] = [row for row in many.world.source._log.rows if row.event_id > at + 5]
    assert "has a gap" in str(many.measured()["sales"].trouble)


def test_an_unpaused_policy_is_counted_on_from_where_a_paused_one_was(many: Many) -> None:
    many.load()
    emit(many, 1_000)
    pause(many.world.replica_files, many.policies["sales"], "upgrade", "ann")
    assert many.measured()["sales"].lag_events <= 51
    unpause(many.world.replica_files, many.policies["sales"])
    assert many.measured()["sales"].lag_events == 1_000


@pytest.mark.parametrize("memory", [None, 7, {"sales": 1}, {"sales": ["x"] * 11}, {"sales": [1, 2, "d"]}])
def test_a_memory_that_cannot_be_read_is_no_memory(memory: Any) -> None:
    assert recalled(memory) == {}


def test_the_longest_counts_are_remembered_within_what_airflow_keeps() -> None:
    position = Position(2**40, 2**31, "f" * 32)
    counts = {f"policy-{n:064}": Counted(position, 2**32, n, position, NotApplied(n, 1, False)) for n in range(1_000)}
    memory = remembered(counts)
    assert recalled(memory) == {name: one for name, one in counts.items() if name in memory}
    assert f"policy-{999:064}" in memory and len(json.dumps(memory)) < 65_535

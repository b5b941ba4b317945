"""How often policies look without a hint: all together no more often than the machine can bear."""

from collections import Counter
from datetime import UTC, datetime
from typing import Any

import pytest
from croniter import croniter

from tests.dags.airflow_home import parse_dags
from tests.support.policies import PolicyFiles
from twinhive.surfaces.airflow.dags.schedule import cron_of, floor_minutes

DAY = datetime(2030, 5, 17, tzinfo=UTC)


@pytest.mark.parametrize(("policies", "minutes"), [(1, 2), (15, 2), (16, 3), (100, 15), (500, 120), (100_000, 720)])
def test_the_more_policies_there_are_the_more_rarely_each_looks(
    policies: int, minutes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TWINHIVE_IDLE_RUNS_PER_MINUTE", raising=False)
    assert floor_minutes(2, policies, share=0.75) == minutes


def test_a_scan_is_never_more_frequent_than_with_one_policy() -> None:
    assert floor_minutes(15, 1, share=0.25) == 15
    assert floor_minutes(15, 500, share=0.25) == 240


@pytest.mark.parametrize(
    ("given", "minutes"), [("300", 3), ("1000", 2), ("10", 120), ("0", 120), ("many", 120), ("", 120)]
)
def test_a_large_machine_may_say_that_it_bears_more(given: str, minutes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TWINHIVE_IDLE_RUNS_PER_MINUTE", given)
    assert floor_minutes(2, 500, share=0.75) == minutes


@pytest.mark.parametrize("minutes", [2, 7, 15, 60, 120, 720])
def test_a_floor_comes_round_that_often_from_midnight_to_midnight(minutes: int) -> None:
    moments = croniter(cron_of("sales", minutes), DAY)
    first, *others = (moments.get_next(datetime) for _ in range(720 // minutes))
    assert (first - DAY).total_seconds() <= minutes * 60
    if 1_440 % minutes == 0:
        gaps = {(later - earlier).total_seconds() for earlier, later in zip([first, *others], others, strict=False)}
        assert gaps <= {minutes * 60}


def test_many_policies_take_turns() -> None:
    starts = Counter(cron_of(f"db{number}", 120) for number in range(500))
    assert len(starts) > 100 and max(starts.values()) <= 12


def test_all_policies_of_a_configuration_count(policies: PolicyFiles) -> None:
    for number in range(20):
        policies.add(f"db{number}")
    dags = parse_dags(policies.directory)
    assert dags["db7.incremental"].schedule.timetable.expression.endswith("-59/3 * * * *")
    assert dags["db7.scan"].schedule.expression.endswith("-59/15 * * * *")


def test_lanes_of_external_tables_share_what_all_idle_runs_may_be(
    policies: PolicyFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TWINHIVE_IDLE_RUNS_PER_MINUTE", raising=False)
    for number in range(100):
        policies.add(f"db{number}", external_tables={"base_directory": f"hdfs://west/external{number}"})
    dags = parse_dags(policies.directory)
    lanes = (".incremental", ".scan", ".external")
    every = [_period(dag.schedule) for name, dag in dags.items() if name.endswith(lanes)]
    assert len(every) == 300
    assert sum(1 / minutes for minutes in every) <= 10


def test_a_few_lanes_of_external_tables_start_as_often_as_their_policies_say(policies: PolicyFiles) -> None:
    for number in range(10):
        policies.add(f"db{number}", external_tables={"base_directory": f"hdfs://west/external{number}"})
    assert _period(parse_dags(policies.directory)["db7.external"].schedule) == 5


def _period(schedule: Any) -> float:
    """Return the minutes between two runs."""
    moments = croniter(getattr(schedule, "timetable", schedule).expression, DAY)
    first, second = moments.get_next(datetime), moments.get_next(datetime)
    return (second - first).total_seconds() / 60

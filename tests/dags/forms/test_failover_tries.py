"""A task of a failover knows whether Airflow tries again: what nobody knows is held for a refusal only after that."""

from typing import Any

import pytest
from airflow.sdk import DAG

from tests.dags.forms.test_failover_dag import Run, dag, world
from twinhive.operations.failover.unplanned_failover import UnplannedFailover
from twinhive.surfaces.airflow.tasks import switch_task

__all__ = ["dag", "world"]


@pytest.mark.parametrize("is_last", [False, True])
def test_an_unplanned_failover_knows_whether_airflow_tries_again(
    dag: DAG, monkeypatch: pytest.MonkeyPatch, *, is_last: bool
) -> None:
    tries: list[bool] = []

    def run(order: UnplannedFailover, _: Any) -> list[str]:
        tries.append(order.is_last_try)
        return []

    monkeypatch.setattr(UnplannedFailover, "run", run)
    monkeypatch.setattr(switch_task, "is_last_try", lambda _: is_last)
    unplanned = Run(dag, mode="unplanned", reason="east is gone")
    unplanned.do("prepare")
    unplanned.do("promote")
    assert tries == [is_last]

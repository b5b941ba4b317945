"""Tasks that wait for a pool that does not exist are on the page, those of placements too."""

import pytest
from starlette.testclient import TestClient

from tests.dags.monitor.test_page import journal, page_of, viewer
from tests.dags.page_client import know_dags
from twinhive.surfaces.page.airflow_runs import MetadataDatabase
from twinhive.surfaces.page.dag_runs import PoolWait

__all__ = ["journal", "viewer"]

WAITING = (("sales", "scan"), ("near", "copies"), ("unseen_one", "scan"), ("unseen_near", "copies"))


def test_who_may_see_a_policy_or_a_placement_is_told_of_the_pools_that_it_waits_for(
    viewer: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits = [PoolWait(f"{name}.{phase}", "p", 1) for name, phase in WAITING]
    monkeypatch.setattr(MetadataDatabase, "pool_waits", lambda self: waits)
    know_dags("sales.incremental", "near.copies")
    shown = page_of(viewer)
    told = [name for name, phase in WAITING if f"1 task of {name}.{phase} waits for ever" in shown]
    assert told == ["sales", "near"]
    assert "near.copies waits" not in page_of(viewer, "/policies/sales")

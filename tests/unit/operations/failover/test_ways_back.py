"""Several replicas of one source have a way back each: one is used, and the others are refused as long as it is."""

from dataclasses import replace

import pytest

from tests.unit.operations.failover.test_failback import BACK, HOLDER, Switched
from twinhive.core.model.errors import Foreign, TwinhiveError
from twinhive.operations.failover.failback import Failback
from twinhive.runtime.pipeline.runner import run_whole

NORTH = replace(
    BACK,
    name="sales_n_back",
    dump_root="hdfs://west/twinhive/other/dumps",
    staging_root="hdfs://east/twinhive/other/staging",
)


@pytest.fixture
def switched() -> Switched:
    """Return a source whose one replica has taken over, and has made a replica of it since."""
    switched = Switched()
    switched.fail_back()
    return switched


def test_the_way_back_of_another_replica_is_refused_and_says_what_ends_the_first(switched: Switched) -> None:
    before = switched.world.source.database("sales")
    for use in (Failback(NORTH, HOLDER).plan, Failback(NORTH, HOLDER).keep, Failback(NORTH, HOLDER).run):
        with pytest.raises(Foreign, match="belongs to another policy") as caught:
            use(switched.ports())
        assert caught.value.commands == ("twinhive forget sales_back",)
    assert switched.world.source.database("sales") == before


@pytest.mark.parametrize("phase", ["bootstrap", "incremental", "scan", "verify"])
def test_whatever_it_runs_beside_is_refused_and_changes_nothing(switched: Switched, phase: str) -> None:
    before = switched.world.source.database("sales")
    with pytest.raises(TwinhiveError, match="does not belong to policy sales_n_back"):
        run_whole(phase, NORTH, switched.ports(), {"run": "r"}, lambda line: None)
    assert switched.world.source.database("sales") == before
    switched.go_on(BACK, switched.ports)

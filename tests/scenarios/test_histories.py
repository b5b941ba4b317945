"""Replicate a few random histories between real clusters, with kills, and judge all that the replica shows.

`TWINHIVE_SEED` runs one history, the one that a failure names. Many more: `make soak`.
"""

import os

import pytest

from tests.checker.clusters import ClusterDrill, Clusters

pytestmark = pytest.mark.sandbox

ONE = os.environ.get("TWINHIVE_SEED")
SEEDS = [int(ONE)] if ONE else list(range(7))
WITH_SERVERS = [int(ONE)] if ONE else [100, 101, 102]


@pytest.mark.parametrize("seed", SEEDS)
def test_every_state_of_the_replica_is_one_of_its_source(clusters: Clusters, seed: int) -> None:
    drill = ClusterDrill(seed, clusters)
    drill.run()
    drill.assert_end()
    assert drill.judge.compared > 1


@pytest.mark.parametrize("seed", WITH_SERVERS)
def test_also_when_servers_are_killed(clusters: Clusters, seed: int) -> None:
    drill = ClusterDrill(seed, clusters, servers=True)
    drill.run()
    drill.assert_end()
    assert drill.judge.compared > 1

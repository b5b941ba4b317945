"""Replicate a random history between real clusters, with kills, and judge all that the replica shows.

`TWINHIVE_SEED` runs the history that a failure names; otherwise it is that of the day. Many more: `make soak`.
"""

import pytest

from tests.checker.clusters import ClusterDrill, Clusters
from tests.support.seeds import seeds

pytestmark = pytest.mark.sandbox


def test_every_state_of_the_replica_is_one_of_its_source(clusters: Clusters) -> None:
    [seed] = seeds(1, kind=2)
    drill = ClusterDrill(seed, clusters)
    drill.run()
    drill.assert_end()
    assert drill.judge.compared > 1


@pytest.mark.nightly(
    "tests/scenarios/test_histories.py::test_every_state_of_the_replica_is_one_of_its_source",
    "tests/integration/phases/test_incremental.py::test_a_replica_metastore_that_dies_in_mid_apply_is_tried_again",
)
def test_also_when_servers_are_killed(clusters: Clusters) -> None:
    [seed] = seeds(1, kind=3)
    drill = ClusterDrill(seed, clusters, servers=True)
    drill.run()
    drill.assert_end()
    assert drill.judge.compared > 1

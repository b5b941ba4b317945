"""Replicate a few random histories between real clusters, with kills, and judge all that the replica shows.

`TWINHIVE_SEED` runs one history, the one that a failure names; otherwise they are those of the day. Many more:
`make soak`.
"""

import pytest

from tests.checker.clusters import ClusterDrill, Clusters
from tests.support.seeds import ONE, seeds

pytestmark = pytest.mark.sandbox


@pytest.mark.parametrize("number", range(1 if ONE else 2))
def test_every_state_of_the_replica_is_one_of_its_source(clusters: Clusters, number: int) -> None:
    drill = ClusterDrill(seeds(2, kind=2)[number], clusters)
    drill.run()
    drill.assert_end()
    assert drill.judge.compared > 1


@pytest.mark.nightly(
    "tests/scenarios/test_histories.py::test_every_state_of_the_replica_is_one_of_its_source",
    "tests/integration/test_incremental.py::test_a_replica_metastore_that_dies_in_mid_apply_is_tried_again",
)
def test_also_when_servers_are_killed(clusters: Clusters) -> None:
    [seed] = seeds(1, kind=3)
    drill = ClusterDrill(seed, clusters, servers=True)
    drill.run()
    drill.assert_end()
    assert drill.judge.compared > 1

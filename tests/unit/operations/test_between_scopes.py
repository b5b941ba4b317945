"""A failover of a replica that a REPL LOAD, cut off, has left between two scopes: tables may be missing."""

import pytest

from tests.unit.incremental.test_own_scope import marked
from tests.unit.operations.test_failover import parameters
from tests.unit.operations.test_fence import Fenced
from twinhive.model.errors import ActNow
from twinhive.model.marks import PHASE
from twinhive.model.switching.fence import FENCED, QUOTA
from twinhive.operations.readiness import readiness

PLAIN = "sales.['plain']"


@pytest.mark.parametrize(
    ("scope", "before", "says"),
    [("sales", PLAIN, "is between two scopes"), (PLAIN, None, "was loaded with another scope")],
    ids=["between two", "of another one"],
)
def test_a_planned_one_is_refused_before_writers_are_kept_away(scope: str, before: str | None, says: str) -> None:
    """No window goes on with such a replica: behind the fence nothing could bring it to the newest event."""
    fenced = Fenced(QUOTA)
    marked(fenced, scope, before)
    found = readiness(fenced.world.ports(), fenced.policy)
    assert [says in str(problem) for problem in found.lasting] == [True]
    with pytest.raises(ActNow, match=says):
        fenced.failover().run(fenced.world.ports())
    assert FENCED not in fenced.world.source.database("sales").parameters
    assert parameters(fenced)[PHASE] == "following"

"""A failover of a replica that a REPL LOAD, cut off, has left between two scopes: tables may be missing."""

import pytest

from tests.unit.operations.failover.test_failover import parameters, ready, unplanned
from tests.unit.operations.failover.test_fence import Fenced
from tests.unit.replication.incremental.test_incremental import Followed
from tests.unit.replication.incremental.test_scope_check import marked
from twinhive.core.model.errors import ActNow
from twinhive.core.model.failover.fence import FENCED, QUOTA
from twinhive.core.model.marks import PHASE
from twinhive.operations.actions.replica_status import read_status
from twinhive.operations.failover.readiness import readiness

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


@pytest.mark.parametrize(
    ("before", "missing"),
    [(PLAIN, f"what is in one of sales and {PLAIN} alone"), ("* 0123", "any table of sales")],
    ids=["of ours", "which no statement can say"],
)
def test_what_may_be_missing_is_said_before_and_after_an_unplanned_one(before: str, missing: str) -> None:
    followed = ready(Followed())
    marked(followed, "sales", before)
    says, ports = f"may be missing: {missing}; a REPL LOAD has not ended", followed.world.ports()
    assert ("between two scopes", says) in read_status(ports, followed.policy).rows()
    failover = unplanned(followed)
    assert says in failover.plan(ports)
    assert failover.run(ports).count(says) == 2
    assert says in failover.plan(ports)
    assert ("between two scopes", says) in read_status(ports, followed.policy).rows()


def test_of_one_scope_nothing_is_said() -> None:
    followed = ready(Followed())
    marked(followed, "sales")
    assert "may be missing" not in str([*unplanned(followed).plan(followed.world.ports())])
    assert "between two scopes" not in dict(read_status(followed.world.ports(), followed.policy).rows())

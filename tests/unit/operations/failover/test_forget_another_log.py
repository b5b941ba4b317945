"""A replica whose source's metastore was made anew is not forgotten; what to do instead works."""

import pytest

from tests.unit.operations.failover.test_failover import HOLDER, parameters, planned, ready
from tests.unit.replication.incremental.test_incremental import Followed
from twinhive.core.model.errors import Foreign
from twinhive.core.model.names import TableName
from twinhive.core.model.text import render
from twinhive.operations.failover.forget import Forget
from twinhive.runtime.pipeline.runner import run_bootstrap


@pytest.fixture
def followed() -> Followed:
    return ready(Followed())


def refused(followed: Followed) -> str:
    followed.world.source.log_id = lambda: "log-new"
    before = parameters(followed)
    for act in (Forget(followed.policy, HOLDER).plan, Forget(followed.policy, HOLDER).run):
        with pytest.raises(Foreign, match=r"twinhive\.source\.log = log-east") as refusal:
            act(followed.world.ports())
    assert parameters(followed) == before
    return render(refusal.value.words.next_step)


def test_the_replica_is_dropped_and_built_again(followed: Followed) -> None:
    said = refused(followed)
    assert "DROP DATABASE sales CASCADE" in said and "sales.bootstrap" in said
    assert "correct replica.database" not in said
    replica = followed.world.replica
    for table in replica.table_names("sales"):
        replica.drop_table(TableName("sales", table), delete_data=True)
    replica.drop_database("sales")
    run_bootstrap(followed.policy, followed.world.ports(), HOLDER, followed.log.append)
    followed.assert_twin()


def test_one_that_has_taken_over_is_never_to_be_dropped(followed: Followed) -> None:
    planned(followed).run(followed.world.ports())
    said = refused(followed)
    assert "do not drop it" in said and "DROP DATABASE" not in said

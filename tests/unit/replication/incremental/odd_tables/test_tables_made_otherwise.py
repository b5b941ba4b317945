"""A resync looks at what the replica's metastore has made of a table, as a load and an event do."""

from contextlib import suppress
from itertools import count

import pytest

from tests.support.worlds.fake_world import Killed, KillSwitch, killable, tuned
from tests.unit.replication.incremental.test_incremental import Followed
from twinhive.core.model.errors import ActNow
from twinhive.core.model.names import TableName
from twinhive.core.model.policy import Policy
from twinhive.operations.actions.resync import Resync

PLAIN = TableName("sales", "plain")


def asked(policy: Policy | None = None) -> Followed:
    """A table that is gone from the replica is to be resynced, where each managed table becomes external.

    An event of another table is in the window too: so it is taken up again by who follows.
    """
    followed = Followed(policy or tuned())
    followed.users.insert("orders", ("a b",), [b"more"])
    followed.world.replica.drop_table(PLAIN, delete_data=True)
    followed.world.replica.translates_managed = True
    Resync(followed.policy, "plain", {"by": "test"}).run(followed.world.ports())
    return followed


def test_a_table_that_becomes_another_is_refused_and_removed_again() -> None:
    followed = asked()
    with pytest.raises(ActNow, match=r"turned table sales\.plain into something else.*\n.*EXTERNAL_TABLE") as caught:
        followed.follow()
    assert "metastore.metadata.transformer.class" in (caught.value.words.next_step or "")
    assert followed.world.replica.table(PLAIN) is None
    followed.world.replica.translates_managed = False
    followed.follow()
    followed.assert_twin()


def test_with_quarantine_it_is_frozen_and_the_others_go_on() -> None:
    followed = asked(tuned(on_object_error="quarantine"))
    followed.follow()
    assert any(line.startswith("plain is frozen") for line in followed.log)
    assert followed.world.replica.table(PLAIN) is None


def test_killed_before_the_look_it_is_not_taken_for_the_table() -> None:
    for at in count(1):
        followed = asked()
        switch = KillSwitch(at, after_effect=True)
        with suppress(Killed, ActNow):
            followed.run_with(killable(followed.world.ports(), switch))
        followed.world.replica.translates_managed = False
        followed.follow()
        followed.assert_twin()
        if switch.count < at:
            return

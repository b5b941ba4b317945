"""What becomes of the tables of a running policy whose file says something else of external tables than before."""

from tests.support.worlds.external_followed import POLICY, FollowedExternals
from tests.support.worlds.fake_world import tuned
from twinhive.model.policy import Policy


def test_more_tables_than_a_window_takes_all_come_and_each_once() -> None:
    policy: Policy = tuned(POLICY, window_partitions=1)
    followed = FollowedExternals(policy)
    for name in ("first", "second", "third"):
        followed.users.create_external(name)
    followed.settle()
    assert followed.follow()["window"].idle
    came = [line for line in followed.log if "was brought over" in line]
    assert len(came) == 4 and len(set(came)) == 4
    followed.assert_twin()

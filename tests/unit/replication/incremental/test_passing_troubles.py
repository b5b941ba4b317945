"""A trouble of a metastore that passes stops a run and nothing more, whatever the policy says of errors."""

import pytest

from tests.support.worlds.fake_world import tuned
from tests.unit.replication.incremental.test_incremental import Followed
from twinhive.core.model.errors import ActNow, Refused, Unexplained, Unreachable, Unwell, together
from twinhive.core.step.step_base import Work
from twinhive.runtime.pipeline.phases import APPLY, INCREMENTAL


@pytest.mark.parametrize("consistency", ["every_event", "window_end"])
def test_no_table_is_quarantined_for_a_hiccup(monkeypatch: pytest.MonkeyPatch, consistency: str) -> None:
    followed = Followed(tuned(on_object_error="quarantine", consistency=consistency))
    followed.users.insert("plain", None, [b"more"])
    directory = f"{followed.policy.staging}/lease"
    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(followed.world.replica, "alter_table", _fails(Unwell("altering table sales.plain: deadlock")))
        with pytest.raises(Unwell):
            followed.follow()
    assert followed.world.lease.holder(directory) is not None, "its call may have ended either way"
    followed.follow()
    assert followed.world.lease.holder(directory) is None
    assert not any("quarantine" in key for key in followed.world.replica.database("sales").parameters)
    followed.assert_twin()


def test_a_refusal_of_the_request_still_quarantines(monkeypatch: pytest.MonkeyPatch) -> None:
    followed = Followed(tuned(on_object_error="quarantine"))
    followed.users.insert("plain", None, [b"more"])
    monkeypatch.setattr(followed.world.replica, "alter_table", _fails(Refused("altering table sales.plain: no")))
    assert followed.follow()["apply"].quarantined.keys() == {"plain"}


@pytest.mark.parametrize("consistency", ["every_event", "window_end"])
def test_for_an_answer_that_nobody_knows_a_table_is_quarantined_after_the_last_try(
    monkeypatch: pytest.MonkeyPatch, consistency: str
) -> None:
    followed = Followed(tuned(on_object_error="quarantine", consistency=consistency))
    followed.users.insert("plain", None, [b"more"])
    ports = followed.world.ports()
    dump = followed.run_with(ports, INCREMENTAL[:2])["window"].dump
    monkeypatch.setattr(followed.world.replica, "alter_table", _fails(Unexplained("altering table sales.plain: hm")))
    with pytest.raises(Unexplained, match="event"):
        APPLY(Work(followed.policy, dump=dump, holder={"run": "i"}, is_last_try=False)).run(ports)
    assert not any("quarantine" in key for key in followed.world.replica.database("sales").parameters)
    applied = APPLY(Work(followed.policy, dump=dump, holder={"run": "i"}, is_last_try=True)).run(ports)
    assert applied.quarantined.keys() == {"plain"}


@pytest.mark.parametrize("policy", ["stop", "quarantine"])
def test_a_refusal_that_leaves_a_call_open_keeps_the_lease_and_quarantines_nothing(
    monkeypatch: pytest.MonkeyPatch, policy: str
) -> None:
    followed = Followed(tuned(on_object_error=policy))
    followed.users.insert("plain", None, [b"more"])
    open_call = together([Refused("altering table sales.plain: no"), Unreachable("no answer")], "two calls failed")
    monkeypatch.setattr(followed.world.replica, "alter_table", _fails(open_call))
    with pytest.raises(ActNow):
        followed.follow()
    assert followed.world.lease.holder(f"{followed.policy.staging}/lease") is not None
    assert not any("quarantine" in key for key in followed.world.replica.database("sales").parameters)


def _fails(error: Exception):
    def alter_table(*args: object, **kwargs: object) -> None:
        raise error

    return alter_table

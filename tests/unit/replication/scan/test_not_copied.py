"""What a scan cannot copy is said, and asks for a person where only that helps; a load is followed by a deep scan."""

import pytest

from tests.unit.replication.incremental.test_incremental import Followed
from tests.unit.replication.scan.test_scan import put, same, scan
from twinhive.core.model.errors import ActNow, Refused, TwinhiveError, Unreachable
from twinhive.core.step.step_base import Work
from twinhive.replication.bootstrap.preflight import Preflight
from twinhive.runtime.pipeline.runner import run_bootstrap
from twinhive.transfer.engine.transfer import Transfer

QUOTA = Refused("writing: the quota of hdfs://west/staging is exceeded")


def fails(monkeypatch: pytest.MonkeyPatch, error: TwinhiveError) -> None:
    def copy(*given: object, **named: object) -> None:
        raise error

    monkeypatch.setattr(Transfer, "copy", copy)


def test_what_is_refused_ends_the_scan_with_the_reason_and_comes_with_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    followed = Followed()
    scan(followed)
    path = put(followed, "plain", "part-1", b"silent")
    with monkeypatch.context() as failing, pytest.raises(ActNow) as found:
        fails(failing, QUOTA)
        scan(followed)
    assert path in str(found.value) and "the quota of hdfs://west/staging is exceeded" in str(found.value)
    assert len(scan(followed).followed) == 1
    assert same(followed)


def test_what_may_pass_is_said_and_left_to_the_next_scan(monkeypatch: pytest.MonkeyPatch) -> None:
    followed = Followed()
    scan(followed)
    path = put(followed, "plain", "part-1", b"silent")
    with monkeypatch.context() as failing:
        fails(failing, Unreachable("reading: no answer"))
        assert scan(followed).waiting
    assert any(f"not copied: {path}: " in str(line) for line in followed.log)
    assert len(scan(followed).followed) == 1


def test_the_first_scan_after_a_replica_was_built_again_compares_all_files() -> None:
    followed = Followed()
    scan(followed)
    Preflight(Work(followed.policy, holder={"run": "b2"}), again=True).run(followed.world.ports())
    run_bootstrap(followed.policy, followed.world.ports(), {"run": "b2"}, followed.say)
    deep = f"{followed.users.location('orders', ('a b',))}/sub dir/late"
    followed.world.source_files.put(deep, b"deep, silent")
    assert scan(followed).suspects > 0
    assert same(followed)
    assert scan(followed).suspects == 0

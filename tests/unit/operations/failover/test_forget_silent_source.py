"""A replica is given up whose source does not answer, maybe never again: all that is not of the source goes."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.support.worlds.external_followed import FollowedExternals
from tests.unit.operations.actions.test_operations import assert_forgotten
from tests.unit.operations.failover.test_failover import HOLDER, parameters, ready, unplanned
from tests.unit.operations.failover.test_fence import Fenced
from tests.unit.replication.incremental.test_incremental import Followed
from twinhive.core.model.errors import LeaseHeld, Unreachable
from twinhive.core.model.failover.fence import QUOTA
from twinhive.core.model.files import join
from twinhive.core.model.lease_kinds import LeaseKind
from twinhive.operations.failover.fence.fencing import fence_lease
from twinhive.operations.failover.forget import Forget
from twinhive.replication.replica.base_claim import write_claim
from twinhive.transfer.tree.work_directories import CLAIM


@contextmanager
def silent(followed: Followed) -> Iterator[None]:
    """Let nobody answer at the source: neither its metastore nor its file system, where the dumps are."""

    def gone(*_: object, **__: object) -> object:
        raise Unreachable("the source does not answer")

    sides = (followed.world.source, followed.world.source_files)
    before = [dict(vars(side)) for side in sides]
    for side in sides:
        for name in dir(type(side)):
            if not name.startswith("_") and callable(getattr(side, name)):
                setattr(side, name, gone)
    yield
    for side, kept in zip(sides, before, strict=True):
        for name in set(vars(side)) - set(kept):
            delattr(side, name)
        vars(side).update(kept)


def forget(followed: Followed) -> list[str]:
    return Forget(followed.policy, HOLDER).run(followed.world.ports())


def staging(followed: Followed) -> list[str]:
    files, root = followed.world.replica_files, followed.policy.staging
    return [path.removeprefix(root + "/") for path in files.paths() if path.startswith(root + "/")]


@pytest.fixture
def followed() -> Followed:
    return ready(Followed())


def test_a_replica_that_took_over_is_given_up_and_its_source_when_it_answers(followed: Followed) -> None:
    unplanned(followed).run(followed.world.ports())
    with silent(followed):
        plan = "\n".join(Forget(followed.policy, HOLDER).plan(followed.world.ports()))
        assert f"would stay: {followed.policy.dumps}: the source does not answer" in plan
        lines = "\n".join(forget(followed))
        assert "not removed: the mark of policy sales" in lines and "twinhive retire sales" in lines
        assert f"left in place: {followed.policy.dumps}: the source does not answer" in lines
        assert "is gone for good: remove the policy file" in lines
        assert not [key for key in parameters(followed) if key.startswith("twinhive.")]
        assert followed.world.replica_files.status(followed.policy.staging) is None
        assert "nothing is left" in forget(followed)[0]
    lines = "\n".join(forget(followed))
    assert "removed: the mark of policy sales" in lines and "not removed" not in lines
    assert_forgotten(followed)


def test_the_note_of_a_fence_stays_until_it_can_be_lifted() -> None:
    fenced = Fenced(QUOTA)
    fenced.failover().fence(fenced.world.ports())
    with silent(fenced):
        for _ in range(2):
            lines = "\n".join(forget(fenced))
            assert "not taken away: the fence of east/sales: the source does not answer" in lines
            kept = ["control/failover.json", "control/fence.json", "control/forget.json"]
            assert sorted(staging(fenced)) == kept
    assert fenced.quota == 1
    assert any("its writers may write" in line for line in forget(fenced))
    assert fenced.mark is None and fenced.quota == 5_000
    assert_forgotten(fenced)


def test_a_fence_that_somebody_holds_is_waited_for_and_its_note_stays() -> None:
    fenced = Fenced(QUOTA)
    fenced.failover().fence(fenced.world.ports())
    held = fenced.world.lease.hold(fence_lease(fenced.policy), {"run": "other"}, LeaseKind.STATEMENT)
    with held, pytest.raises(LeaseHeld):
        forget(fenced)
    assert "control/fence.json" in staging(fenced)


def test_the_base_directory_is_released_as_the_replica_itself_says_whose_source_it_was() -> None:
    followed = FollowedExternals.from_the_beginning()
    base = followed.policy.external.base_directory
    assert base is not None
    write_claim(followed.world.ports(), followed.policy, base)
    with silent(followed):
        assert any(line.startswith("released: the base directory") for line in forget(followed))
    assert followed.world.replica_files.status(join(base, CLAIM)) is None


def test_a_claim_of_which_nothing_says_whose_it_is_stays() -> None:
    followed = FollowedExternals.from_the_beginning()
    base = followed.policy.external.base_directory
    assert base is not None
    write_claim(followed.world.ports(), followed.policy, base)
    followed.world.replica.drop_database("sales")
    with silent(followed):
        assert any(line.startswith("not released: the base directory") for line in forget(followed))
    assert any(line.startswith("released: the base directory") for line in forget(followed))

"""A promotion and an abort at the same time: one of them does nothing, wherever the other one is."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from tests.support.policy_terminal import Offered
from tests.support.worlds.copies import left_by_kills
from tests.support.worlds.fake_world import Killed, killable
from tests.unit.operations.failover.test_failover import HOLDER, parameters, position, ready, unplanned
from tests.unit.operations.failover.test_fence import HOME, Fenced, Hook, Kept, killed_once_open
from tests.unit.replication.incremental.test_incremental import Followed
from twinhive.core.model.errors import ActNow, LeaseHeld, LeaseLost, Promoted
from twinhive.core.model.failover.fence import COMMAND, QUOTA
from twinhive.core.model.lease_kinds import LeaseKind
from twinhive.core.model.marks import PHASE
from twinhive.core.step.promotion_note import promotion_note
from twinhive.core.step.replica_lease import lease_directory
from twinhive.operations.actions.unlock import Unlock
from twinhive.operations.failover.fence.fence_removal import AbortFailover
from twinhive.operations.failover.proof import Proof
from twinhive.replication.replica.begun_failover import token_of


def proved(fenced: Fenced) -> tuple[Proof, Proof]:
    """Let a failover come up to its last task."""
    operation, ports = fenced.failover(), fenced.world.ports()
    operation.fence(ports)
    operation.catch_up("")
    quiet = operation.prove_quiet(ports)
    return quiet, operation.prove_equal(ports, quiet)[1]


def promote(fenced: Fenced, proofs: tuple[Proof, Proof], ports: Any = None) -> list[str]:
    return fenced.failover().promote(ports or fenced.world.ports(), *proofs)


def phase(fenced: Followed) -> str:
    return parameters(fenced)[PHASE]


class Meanwhile:
    """Pass everything on to a port; something else happens before a call of one of its methods, the first as a rule."""

    def __init__(self, port: Any, method: str, act: Callable[[], object], *, passes: int = 0) -> None:
        self._port, self._method, self._acts = port, method, iter([*[lambda: None] * passes, act])

    def __getattr__(self, name: str) -> Any:
        if name == self._method:
            next(self._acts, lambda: None)()
        return getattr(self._port, name)


def silent_write(fenced: Fenced) -> None:
    fenced.world.source_files.put(f"{HOME}/plain/silent", b"acknowledged, and told by no event")


@pytest.mark.parametrize("rungs", [(QUOTA,), (COMMAND,), (QUOTA, COMMAND)])
def test_killed_at_any_change_an_abort_has_voided_what_was_proved(rungs: tuple[str, ...]) -> None:
    proofs: list[tuple[Proof, Proof]] = []

    def begin() -> Fenced:
        begun = Fenced(*rungs)
        proofs.append(proved(begun))
        return begun

    def act(one: Fenced, switch: Any) -> None:
        AbortFailover(one.policy, HOLDER, run_command=one.hook).run(killable(one.world.ports(), switch))

    for left in left_by_kills(begin, act):
        if token_of(left.world.replica_files, left.policy):  # killed before its first change
            assert left.mark is not None and left.hook.shut == (COMMAND in rungs)
            continue
        with pytest.raises(ActNow):
            promote(left, proofs[0])
        assert phase(left) == "following"
        # A second abort ends it, and what begins anew proves all anew.
        left.abort().run(left.world.ports())
        left.assert_open()
        left.failover().fence(left.world.ports())
        with pytest.raises(ActNow):
            promote(left, proofs[0])
        left.failover().run(left.world.ports())
        assert phase(left) == "promoted"


def test_what_was_proved_is_void_though_the_quota_was_set_again_by_hand() -> None:
    fenced = Fenced(QUOTA)
    proofs = proved(fenced)
    with pytest.raises(Killed), killed_once_open(fenced):
        fenced.abort().run(fenced.world.ports())
    silent_write(fenced)
    fenced.shut_by_hand()
    Unlock(fenced.policy, HOLDER).run(fenced.world.ports())
    with pytest.raises(ActNow, match="was given up"):
        promote(fenced, proofs)
    fenced.failover().fence(fenced.world.ports())
    with pytest.raises(ActNow, match="was begun anew"):
        promote(fenced, proofs)


class Failing(Hook):
    """A command that lets writers in, and ends with an error."""

    def __init__(self, hook: Hook) -> None:
        self._hook = hook

    def __call__(self, words: Any, environment: Mapping[str, str]) -> None:
        self._hook.shut = False
        raise ActNow("the command true of failover.fence failed", found="1: half done", expected="0", next_step="mend")


def test_an_abort_whose_command_failed_is_followed_by_no_promotion() -> None:
    fenced = Fenced(QUOTA, COMMAND)
    proofs = proved(fenced)
    with pytest.raises(ActNow, match="half done"):
        replace(fenced.abort(), run_command=Failing(fenced.hook)).run(fenced.world.ports())
    silent_write(fenced)
    with pytest.raises(ActNow, match=r"(?s)not fenced as its policy says.*opened the fence.*failover sales"):
        promote(fenced, proofs)
    assert phase(fenced) == "following"
    fenced.abort().run(fenced.world.ports())
    assert (fenced.mark, fenced.quota, fenced.hook.shut) == (None, 5_000, False)


@pytest.mark.parametrize("proofs_of_the_lease", [0, 1], ids=["before its note", "before its call"])
def test_who_has_lost_the_lease_after_its_last_look_promotes_nothing(proofs_of_the_lease: int) -> None:
    fenced = Fenced(QUOTA)
    proofs = proved(fenced)

    def taken_for_dead() -> None:
        Unlock(fenced.policy, HOLDER).run(fenced.world.ports())

    ports = fenced.world.ports()
    with pytest.raises(LeaseLost):
        lease = _BeforeLastProof(ports.lease, fenced, taken_for_dead, proofs_of_the_lease)
        promote(fenced, proofs, replace(ports, lease=lease))
    assert phase(fenced) == "following"
    note = promotion_note(fenced.world.replica_files, fenced.policy)
    assert (note is not None) == bool(proofs_of_the_lease)


def test_nor_an_unplanned_one_whose_replica_was_moved_on_meanwhile() -> None:
    followed = ready(Followed())
    followed.users.insert("plain", None, [b"more"])
    at = position(followed)

    def moved_on() -> None:
        Unlock(followed.policy, HOLDER).run(followed.world.ports())
        followed.follow()
        assert position(followed) > at

    ports = followed.world.ports()
    with pytest.raises(LeaseLost):
        unplanned(followed, at).run(replace(ports, lease=_BeforeLastProof(ports.lease, followed, moved_on)))
    assert phase(followed) == "following"


class _BeforeLastProof:
    """Pass everything on to a keeper of leases; something else happens before a promotion proves its lease."""

    def __init__(self, keeper: Any, followed: Followed, act: Callable[[], object], passes: int = 0) -> None:
        self._keeper, self._followed, self._act, self._passes = keeper, followed, act, passes

    def __getattr__(self, name: str) -> Any:
        return getattr(self._keeper, name)

    @contextmanager
    def hold(self, directory: str, holder: Any, kind: LeaseKind = LeaseKind.EVENTS) -> Iterator[Any]:
        with self._keeper.hold(directory, holder, kind) as lease:
            is_ours = directory == lease_directory(self._followed.policy) and kind is LeaseKind.PROMOTE
            yield Meanwhile(lease, "confirm", self._act, passes=self._passes) if is_ours else lease


@pytest.mark.parametrize("passes", [0, 1], ids=["before its note", "before its call"])
def test_an_abort_between_the_last_look_and_the_call_is_noticed(passes: int) -> None:
    """The holder was taken for dead after it had proved its lease; then writers were let in."""
    fenced = Fenced(QUOTA)
    proofs = proved(fenced)

    def aborted() -> None:
        Unlock(fenced.policy, HOLDER).run(fenced.world.ports())
        fenced.abort().run(fenced.world.ports())
        fenced.users.insert("plain", None, [b"writers are in again"])

    class ProvedThenFrozen(_BeforeLastProof):
        @contextmanager
        def hold(self, directory: str, holder: Any, kind: LeaseKind = LeaseKind.EVENTS) -> Iterator[Any]:
            with self._keeper.hold(directory, holder, kind) as lease:
                yield _ThenFrozen(lease, self._act, passes) if kind is LeaseKind.PROMOTE else lease

    ports = fenced.world.ports()
    with pytest.raises((ActNow, LeaseLost)):
        promote(fenced, proofs, replace(ports, lease=ProvedThenFrozen(ports.lease, fenced, aborted)))
    assert (phase(fenced), fenced.mark) == ("following", None)


def test_a_failover_that_was_begun_anew_between_the_last_look_and_the_call_is_noticed() -> None:
    """Whoever begins anew takes no lease of the replica: only the token tells that the source was open meanwhile."""
    fenced = Fenced()
    proofs = proved(fenced)

    class ProvedThenBegun(_BeforeLastProof):
        @contextmanager
        def hold(self, directory: str, holder: Any, kind: LeaseKind = LeaseKind.EVENTS) -> Iterator[Any]:
            is_ours = directory == lease_directory(fenced.policy)
            with self._keeper.hold(directory, holder, kind) as lease:
                yield _ThenFrozen(lease, self._act, self._passes) if is_ours else lease

    ports = fenced.world.ports()
    keeper = ProvedThenBegun(ports.lease, fenced, lambda: fenced.failover().fence(fenced.world.ports()), passes=1)
    with pytest.raises(ActNow, match="was given up, or begun anew") as caught:
        promote(fenced, proofs, replace(ports, lease=keeper))
    assert phase(fenced) == "following"
    offered = Offered(lambda: {"sales": (fenced.policy, fenced.world.ports)})
    assert [offered.type(line)[1] for line in caught.value.commands] == [None]
    assert len(offered.typed) == 1


class _ThenFrozen:
    """Prove a lease; something else happens right after one of the proofs."""

    def __init__(self, lease: Any, act: Callable[[], object], passes: int) -> None:
        self._lease, self._acts = lease, iter([*[lambda: None] * passes, act])

    def confirm(self) -> None:
        self._lease.confirm()
        next(self._acts, lambda: None)()


def test_what_comes_while_the_last_things_are_looked_up_is_noticed() -> None:
    """Between the first look and the call there is a while: what nothing uses any more is taken away, logs are read."""
    fenced = Fenced(QUOTA)
    proofs = proved(fenced)

    def alter() -> None:
        table = fenced.world.source.table(fenced.users.name("plain"))
        fenced.world.source.alter_table(table.name, table.with_parameters({**table.parameters, "by": "alter"}))

    ports = fenced.world.ports()
    with pytest.raises(ActNow, match="is still written behind its fence"):
        promote(fenced, proofs, replace(ports, replica=Meanwhile(ports.replica, "log_id", alter)))
    assert phase(fenced) == "following"


def test_an_abort_waits_for_a_promotion_that_is_under_way() -> None:
    fenced = Fenced(QUOTA)
    proved(fenced)
    with (
        fenced.world.lease.hold(lease_directory(fenced.policy), {"run": "promotes"}, LeaseKind.PROMOTE),
        pytest.raises(LeaseHeld, match="is being changed by other work"),
    ):
        fenced.abort().run(fenced.world.ports())
    fenced.assert_shut()


def test_an_abort_that_has_waited_for_a_promotion_is_refused() -> None:
    fenced = Fenced(QUOTA)
    proofs = proved(fenced)

    class Behind(_BeforeLastProof):
        @contextmanager
        def hold(self, directory: str, holder: Any, kind: LeaseKind = LeaseKind.EVENTS) -> Iterator[Any]:
            if directory == lease_directory(self._followed.policy):
                self._act()
            with self._keeper.hold(directory, holder, kind) as lease:
                yield lease

    ports = fenced.world.ports()
    with pytest.raises(Promoted, match="cannot be aborted"):
        fenced.abort().run(replace(ports, lease=Behind(ports.lease, fenced, lambda: promote(fenced, proofs))))
    assert phase(fenced) == "promoted"
    fenced.assert_shut()


@pytest.mark.parametrize("is_told", [True, False])
def test_what_writers_do_while_files_are_brought_back_is_not_mixed_with_it(is_told: bool) -> None:
    """Copying takes its time, and the writers are in again: the directory is looked at once more before the renames."""
    kept = Kept().truncated("plain")
    files = kept.world.source_files
    create = files.create_from

    def meanwhile(*given: Any, **named: Any) -> Any:
        del files.create_from
        if is_told:
            kept.users.insert("plain", None, [b"written by somebody who is in again"])
        else:
            files.put(f"{HOME}/plain/theirs", b"written by somebody who is in again")
        return create(*given, **named)

    files.create_from = meanwhile
    lines = "\n".join(kept.abort().run(kept.world.ports()))
    assert "not brought back: plain" in lines and kept.snapshots
    assert files.status(f"{HOME}/plain/data") is None

"""What never stands still is judged only by two looks of one version, also where the position does not say it."""

import pytest

from tests.unit.replication.verify.verifying import Verifying
from twinhive.replication.comparison.leaf_reader import LeafState, Side, SideRole, sides_of
from twinhive.replication.comparison.leaf_records import OWN_LEAF
from twinhive.replication.replica.replica_state import state_now
from twinhive.replication.verify import hot_leaves
from twinhive.replication.verify.hot_leaves import HotLeaf, HotLooks, JudgedLeaf

PARTS = {"plain": (HotLeaf("plain", OWN_LEAF), None), "orders": (HotLeaf("orders", "p=a b"), ("a b",))}


@pytest.fixture
def verifying(monkeypatch: pytest.MonkeyPatch) -> Verifying:
    monkeypatch.setattr(hot_leaves, "_LOOKS", 3)
    return Verifying()


def looks_at(verifying: Verifying, leaf: HotLeaf) -> dict[HotLeaf, JudgedLeaf]:
    """Look at a leaf while the position stands: it is written when events are applied, not before."""
    ports, policy = verifying.world.ports(), verifying.followed.policy
    stands = state_now(ports, policy).position
    return HotLooks(sides_of(ports, policy), [leaf], lambda: stands, lambda seconds: None).run()


@pytest.mark.parametrize("table", PARTS)
def test_a_leaf_that_stands_still_is_judged(verifying: Verifying, table: str) -> None:
    leaf, _ = PARTS[table]
    assert looks_at(verifying, leaf)[leaf].difference is None


@pytest.mark.parametrize("table", PARTS)
def test_a_look_during_which_an_event_is_applied_judges_nothing(
    verifying: Verifying, monkeypatch: pytest.MonkeyPatch, table: str
) -> None:
    """Whenever the replica's leaf is read, an event has shaped it since its stamp was."""
    leaf, values = PARTS[table]
    look = hot_leaves._state

    def state(side: Side, of: HotLeaf) -> LeafState | None:
        if side.role is SideRole.REPLICA:
            verifying.users.insert(table, values, [b"more"])
            verifying.followed.follow()
        return look(side, of)

    monkeypatch.setattr(hot_leaves, "_state", state)
    assert looks_at(verifying, leaf) == {}

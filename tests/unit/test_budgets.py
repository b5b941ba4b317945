"""A group that takes too long fails a run, on a machine that is not slow by itself."""

import pytest

from tests import budgets
from tests.budgets import BUDGETS, Spent, budget_of
from tests.lanes import Lane


@pytest.mark.parametrize("lane", [Lane.ALONE, None])
def test_a_group_far_past_its_budget_is_named_and_one_within_is_not(lane: Lane | None) -> None:
    spent = Spent(lane)
    spent.add("unit", "tests/unit/a.py::slow", 100 * budget_of("unit", lane))
    spent.add("dags", "tests/dags/a.py::quick", 1)
    [over] = spent.over()
    assert over.startswith("unit: ")
    assert "tests/unit/a.py::slow" in "\n".join(spent.lines())


@pytest.mark.parametrize("lane", [lane for lane in Lane if "integration" in lane.groups])
def test_a_group_of_several_lanes_has_a_budget_in_each(lane: Lane) -> None:
    alone, of_all = budget_of("integration", lane), budget_of("integration", None)
    assert 0 < alone < of_all / 2
    in_lane, in_all = Spent(lane), Spent()
    for spent in (in_lane, in_all):
        spent.groups["integration"] = 1.6 * alone * spent.factor
    assert len(in_lane.over()) == 1
    assert in_all.over() == []


def test_what_the_host_gives_to_others_is_not_counted(monkeypatch) -> None:
    moments = iter([(0.0, 0.0), *[(75.0, 25.0)] * 9])
    monkeypatch.setattr(budgets, "_ticks", lambda: next(moments))
    spent = Spent(Lane.ALONE)
    assert spent.factor >= 4.0
    spent.groups["unit"] = 5 * budget_of("unit", Lane.ALONE)
    assert spent.over() == []


def test_each_group_of_each_lane_has_a_budget() -> None:
    assert {lane: tuple(groups) for lane, groups in BUDGETS.items()} == {lane: lane.groups for lane in Lane}

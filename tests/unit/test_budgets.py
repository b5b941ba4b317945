"""A group that takes too long fails a run, on a machine that is not slow by itself."""

from pathlib import Path

from tests import budgets
from tests.budgets import BUDGETS, Spent


def test_a_group_far_past_its_budget_is_named_and_one_within_is_not() -> None:
    spent = Spent()
    spent.add("unit", "tests/unit/a.py::slow", 100 * BUDGETS["unit"])
    spent.add("dags", "tests/dags/a.py::quick", 1)
    [over] = spent.over()
    assert over.startswith("unit: ")
    assert "tests/unit/a.py::slow" in "\n".join(spent.lines())


def test_what_the_host_gives_to_others_is_not_counted(monkeypatch) -> None:
    moments = iter([(0.0, 0.0), *[(75.0, 25.0)] * 9])
    monkeypatch.setattr(budgets, "_ticks", lambda: next(moments))
    spent = Spent()
    assert spent.factor >= 4.0
    spent.groups["unit"] = 5 * BUDGETS["unit"]
    assert spent.over() == []


def test_each_group_has_a_budget() -> None:
    groups = {path.name for path in (Path(__file__).parents[1]).iterdir() if path.is_dir()}
    assert BUDGETS.keys() <= groups

"""A triggerer with another version than the worker is said in the log of the run that it has started."""

from types import SimpleNamespace
from typing import Any

import pytest

from twinhive import __version__
from twinhive.surfaces.airflow.dags.versions import other_versions, warning


def started_by(*extras: Any) -> dict[str, Any]:
    return {"triggering_asset_events": {"asset": [SimpleNamespace(extra=extra) for extra in extras]}}


def test_another_version_is_named_with_ours() -> None:
    context = started_by({"from_trigger": True, "payload": {"database": "sales", "version": "0.0.9"}})
    said = warning(context)
    assert said is not None and "0.0.9" in said and __version__ in said


@pytest.mark.parametrize(
    "context",
    [
        {},
        {"triggering_asset_events": None},
        started_by(),
        started_by(None, {}, {"payload": "text"}, {"payload": {"database": "sales"}}),
        started_by({"payload": {"version": __version__}}),
    ],
)
def test_runs_that_nobody_else_started_say_nothing(context: dict[str, Any]) -> None:
    assert other_versions(context) == [] and warning(context) is None

"""What a placement file says of watching it, and that this is no part of what is copied."""

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from tests.support.policies import PolicyFiles
from twinhive.runtime.settings import load_configuration
from twinhive.runtime.settings.placements import PlacementSettings

PLACEMENT: dict[str, Any] = {"placement": "near", "database": "sales", "cluster": "north"}
TOLD = {"owner": "ann", "send": [{"webhook": "pager"}]}
WATCH = {"failed_for": 60, "stalled_for": "off"}


def test_who_is_told_is_the_same_for_what_knows_policies() -> None:
    settings = PlacementSettings.model_validate({**PLACEMENT, "notifications": TOLD, "watch": WATCH})
    policy = settings.as_policy("east")
    assert policy.notifications == settings.notifications
    assert (policy.watch.failed_for, policy.watch.stalled_for) == (60, None)


def test_it_changes_nothing_of_what_is_copied() -> None:
    plain = PlacementSettings.model_validate(PLACEMENT)
    told = PlacementSettings.model_validate({**PLACEMENT, "notifications": TOLD, "watch": WATCH})
    # As versions without these keys have made it.
    assert told.fingerprint == plain.fingerprint == "fee4275f49a90f97"


def test_limits_that_only_policies_can_have_are_refused() -> None:
    with pytest.raises(ValidationError, match="held_for"):
        PlacementSettings.model_validate({**PLACEMENT, "watch": {"held_for": 60}})


def test_people_are_found_by_the_name_of_a_policy_or_placement(tmp_path: Path) -> None:
    files = PolicyFiles(tmp_path / "config")
    (files.directory / "placements").mkdir()
    files.add("sales", notifications={"owner": "bob"})
    files.write("placements/near.yaml", {**PLACEMENT, "notifications": TOLD})
    files.write("placements/far.yaml", {**PLACEMENT, "placement": "far", "colour": "red", "notifications": TOLD})
    configuration = load_configuration(files.directory)
    owners = {name: configuration.notifications(name).owner for name in ("sales", "near", "far", "nobody")}
    assert owners == {"sales": "bob", "near": "ann", "far": "ann", "nobody": ""}
    assert configuration.replicated("far").notifications.owner == "ann"


def test_a_conflict_of_placements_hides_nothing_else_that_is_wrong(tmp_path: Path) -> None:
    files = PolicyFiles(tmp_path / "config")
    (files.directory / "placements").mkdir()
    files.write("placements/a.yaml", {**PLACEMENT, "colour": "red"})
    files.write("placements/b.yaml", PLACEMENT)
    error = load_configuration(files.directory).placement("near").error or ""
    assert "has the same name near" in error and "colour: unknown key" in error

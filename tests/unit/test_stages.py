"""What stages say of themselves is true of their steps."""

import inspect
from dataclasses import fields

import pytest

from twinhive.runtime.pipeline.phase_facts import facts_of
from twinhive.runtime.pipeline.phases import PHASES, PLACEMENT_PHASES
from twinhive.runtime.pipeline.runner import RunOptions

ALL = {**PHASES, **PLACEMENT_PHASES}


@pytest.mark.parametrize("phase", ALL)
def test_an_option_of_a_phase_is_told_to_one_of_its_steps(phase: str) -> None:
    """An option of the form that no step is told would change nothing."""
    option = facts_of(phase).option
    told = {name for stage in ALL[phase] for name in stage.told} - {"execute"}
    assert told == ({option.value} if option else set())


@pytest.mark.parametrize("stage", [stage for stages in ALL.values() for stage in stages], ids=lambda one: one.name)
def test_a_step_takes_what_its_stage_says_and_leaves_out_no_option(stage) -> None:
    options = {one.name for one in fields(RunOptions)}
    taken = set(inspect.signature(stage.step).parameters)
    assert set(stage.told) == options & taken

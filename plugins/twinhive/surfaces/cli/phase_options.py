"""Refuse what no phase can be told."""

import typer

from twinhive.core.model.policy import Policy
from twinhive.runtime.pipeline.phase_facts import FACTS, RunOption, phases_with
from twinhive.runtime.pipeline.phases import PHASES, PLACEMENT_PHASES


def refuse_other_phases(phase: str, *, again: bool = False, deep: bool = False) -> None:
    """Refuse a phase that does not exist, and options that are for another one. Raises BadParameter."""
    known = {**PHASES, **PLACEMENT_PHASES}
    if phase not in known:
        raise typer.BadParameter(f"{phase!r} is not a phase; expected one of {', '.join(known)}")
    for option in (RunOption.AGAIN,) * again + (RunOption.DEEP,) * deep:
        if phase in PLACEMENT_PHASES or FACTS[phase].option is not option:
            others = " and ".join(phases_with(option))
            raise typer.BadParameter(f"--{option.value} is for the phase {others}, not for {phase}")


def refuse_phase_of_others(phase: str, policy: Policy) -> None:
    """Refuse a phase that policies have of a placement, and the other way round. Raises BadParameter."""
    own = PHASES if policy.copies is None else PLACEMENT_PHASES
    if phase not in own:
        what = "policy" if policy.copies is None else "placement"
        raise typer.BadParameter(f"{policy.name} is a {what}; its phases are: {', '.join(own)}")

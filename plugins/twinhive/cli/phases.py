"""Refuse what no phase can be told."""

import typer

from twinhive.pipeline.facts import FACTS, RunOption, phase_of
from twinhive.pipeline.phases import PHASES


def refuse_other_phases(phase: str, *, again: bool = False, deep: bool = False) -> None:
    """Refuse a phase that does not exist, and options that are for another one. Raises BadParameter."""
    if phase not in PHASES:
        raise typer.BadParameter(f"{phase!r} is not a phase; expected one of {', '.join(PHASES)}")
    for option in (RunOption.AGAIN,) * again + (RunOption.DEEP,) * deep:
        if FACTS[phase].option is not option:
            raise typer.BadParameter(f"--{option.value} is for the phase {phase_of(option)}, not for {phase}")

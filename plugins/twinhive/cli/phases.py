"""Refuse what no phase can be told."""

import typer

from twinhive.pipeline.phases import PHASES


def refuse_other_phases(phase: str, *, again: bool = False, deep: bool = False) -> None:
    """Refuse a phase that does not exist, and options that are for another one. Raises BadParameter."""
    if phase not in PHASES:
        raise typer.BadParameter(f"{phase!r} is not a phase; expected one of {', '.join(PHASES)}")
    if again and phase != "bootstrap":
        raise typer.BadParameter(f"--again is for the phase bootstrap, not for {phase}")
    if deep and phase != "scan":
        raise typer.BadParameter(f"--deep is for the phase scan, not for {phase}")

"""What the trigger form of a phase's DAG offers: what matters at first sight, tuning folded away."""

from airflow.sdk import Param

from twinhive.runtime.pipeline.phase_facts import RunOption, facts_of
from twinhive.runtime.settings import PolicyEntry
from twinhive.surfaces.airflow.tasks.dry_run import DRY_RUN

_TUNING = "Tuning"
NOTHING_CHANGED = "dry run: nothing was changed; to do it, trigger again with dry_run off"
"""The last line of a form that was left as it is, where that is a dry run."""


def params_of(entry: PolicyEntry, phase: str) -> dict[str, Param]:
    """Return the form's fields by name; what nobody touches does the usual, and rebuilds nothing."""
    params = {DRY_RUN: _dry_run()}
    facts = facts_of(phase)
    if facts.option is not None:
        params[facts.option.value] = _OPTIONS[facts.option]()
    if facts.copies:
        params["copy_threads"] = _copy_threads(entry.settings.options.copy_threads if entry.settings else 8)
    return params


def dry_run_first() -> Param:
    """Return the field of a form that changes nothing unless somebody switches it off."""
    return Param(
        True,
        type="boolean",
        title="Dry run",
        description="Say in the log what would be done, and change nothing. Switch it off to do it.",
    )


def _dry_run() -> Param:
    return Param(
        False,
        type="boolean",
        title="Dry run",
        description="Say in the log of the first task what a run would copy, create, alter and drop; change nothing",
    )


def _again() -> Param:
    return Param(
        False,
        type="boolean",
        title="Start anew",
        description="Start anew although the replica is published or its log position is lost; the replica is "
        "replaced when the new load begins",
    )


def _deep() -> Param:
    return Param(
        False,
        type="boolean",
        title="Compare every file",
        description="Compare all files with the replica's, also where no directory has changed. By itself a scan "
        "does so once a day, and a verification within thirty",
    )


def _copy_threads(threads: int) -> Param:
    return Param(
        threads,
        type="integer",
        minimum=1,
        maximum=64,
        section=_TUNING,
        title="Files copied at the same time by one task",
        description="Lower it to spare the source's DataNodes; the policy file sets the default.",
    )


_OPTIONS = {RunOption.AGAIN: _again, RunOption.DEEP: _deep}

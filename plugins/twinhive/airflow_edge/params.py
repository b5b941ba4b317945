"""Say what the trigger form of a phase's DAG offers."""

from airflow.sdk import Param

from twinhive.settings import PolicyEntry


def params_of(entry: PolicyEntry, phase: str) -> dict[str, Param]:
    """Return the form's fields by name."""
    if phase == "scan":
        return {"deep": _deep()}
    params = {"copy_threads": _copy_threads(entry.settings.options.copy_threads if entry.settings else 8)}
    if phase == "bootstrap":
        params["again"] = Param(
            False,
            type="boolean",
            title="Start anew",
            description="Start anew although the replica is published or its log position is lost; the replica is "
            "replaced when the new load begins",
        )
    return params


def _deep() -> Param:
    return Param(
        False,
        type="boolean",
        title="Compare every file",
        description="Compare all files with the replica's, also where no directory has changed; once a day a scan "
        "does so by itself",
    )


def _copy_threads(threads: int) -> Param:
    return Param(
        threads,
        type="integer",
        minimum=1,
        maximum=64,
        title="Files copied at the same time by one Spark task",
        description="Lower it to spare the source's DataNodes; the policy file sets the default.",
    )

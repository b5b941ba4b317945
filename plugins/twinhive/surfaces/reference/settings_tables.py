"""Write the settings as tables: key, type, default, meaning, from the models of `twinhive.runtime.settings`."""

import inspect
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from twinhive.core.model.watching.alerts import ALERTS
from twinhive.runtime.settings.airflow_tasks import AirflowSettings, TaskSettings
from twinhive.runtime.settings.allowed_values import allowed, kind_of
from twinhive.runtime.settings.clusters import ClusterSettings, ClustersFile
from twinhive.runtime.settings.failover_settings import FailoverSettings, ReverseSettings
from twinhive.runtime.settings.options import OptionsSettings
from twinhive.runtime.settings.placements import PlacementSettings
from twinhive.runtime.settings.policies import ExternalSettings, PolicySettings
from twinhive.runtime.settings.remotes import AllowedSettings, RemotesFile
from twinhive.runtime.settings.value_kinds import Unit
from twinhive.runtime.settings.watch_settings import ChannelSettings, NotificationSettings, WatchSettings

_ELSEWHERE: Mapping[type[BaseModel], str] = {
    OptionsSettings: "[Options](#options)",
    AirflowSettings: "[Airflow's tasks](#airflows-tasks)",
    TaskSettings: "the next table",
    ExternalSettings: "[External tables](external-tables.md#settings)",
    FailoverSettings: "[Failover](failover.md#settings)",
    WatchSettings: "[Watching and notifications](#watching-and-notifications)",
    NotificationSettings: "[Watching and notifications](#watching-and-notifications)",
}
_HOUR = 3600


def clusters_table() -> str:
    """Return the keys of `clusters.yaml`."""
    rows = [
        *_rows(ClusterSettings, "clusters.<name>."),
        *(row for row in _rows(ClustersFile, "") if "`clusters`" not in row),
    ]
    return "\n".join(["| Key | Type | Default | Meaning |", "|---|---|---|---|", *rows])


def remotes_table() -> str:
    """Return the keys of `remotes.yaml`."""
    rows = [*_rows(AllowedSettings, "allow[]."), *(row for row in _rows(RemotesFile, "") if "`allow`" not in row)]
    table = "\n".join(["| Key | Type | Default | Meaning |", "|---|---|---|---|", *rows])
    return table.replace("](#", "](configuration.md#")


def placements_table() -> str:
    """Return the keys of a placement file, which has a page of its own."""
    return _table(PlacementSettings).replace("](#", "](configuration.md#")


def policies_table() -> str:
    """Return the keys of a policy file; two of them have a table of their own."""
    return _table(PolicySettings)


def external_table() -> str:
    """Return the keys of `external_tables`."""
    return _table(ExternalSettings)


def failover_table() -> str:
    """Return the keys of `failover`, with those of `reverse`."""
    rows = [*_rows(FailoverSettings, ""), *_rows(ReverseSettings, "reverse.")]
    return "\n".join(["| Key | Type | Default | Meaning |", "|---|---|---|---|", *rows])


def airflow_table() -> str:
    """Return the keys of `airflow`."""
    return _table(AirflowSettings)


def tasks_table() -> str:
    """Return the keys below each kind of task."""
    return _table(TaskSettings)


def watching_table() -> str:
    """Return the keys of `watch` and `notifications`, with those of each of its ways."""
    rows = [
        *_rows(WatchSettings, "watch."),
        *_rows(NotificationSettings, "notifications."),
        *_rows(ChannelSettings, "notifications.send[]."),
    ]
    return "\n".join(["| Key | Type | Default | Meaning |", "|---|---|---|---|", *rows])


def alert_kinds_table() -> str:
    """Return the kinds of alerts: how urgent each is, and what it says."""
    rows = [f"| `{kind}` | `{severity}` | {meaning} |" for kind, (severity, meaning) in ALERTS.items()]
    return "\n".join(["| Kind | Severity | Means |", "|---|---|---|", *rows])


def options_table() -> str:
    """Return the keys of `options`, with the second paragraph of each: when to change it."""
    rows = ["| Key | Type | Default | Meaning | When to change it |", "|---|---|---|---|---|"]
    for key, field in OptionsSettings.model_fields.items():
        meaning, _, when = inspect.cleandoc(field.description or "").partition("\n\n")
        rows.append(_row(key, allowed(kind_of(field)), _default(field), meaning, when))
    return "\n".join(rows)


def _table(model: type[BaseModel]) -> str:
    return "\n".join(["| Key | Type | Default | Meaning |", "|---|---|---|---|", *_rows(model, "")])


def _rows(model: type[BaseModel], prefix: str) -> Iterator[str]:
    for name, field in model.model_fields.items():
        key = f"{prefix}{name}"
        inner: Any = field.annotation
        if inner in _ELSEWHERE:
            yield _row(key, f"see {_ELSEWHERE[inner]}", "", field.description)
        elif isinstance(inner, type) and issubclass(inner, BaseModel):
            yield from _rows(inner, f"{key}.")
        else:
            yield _row(key, allowed(kind_of(field)), _default(field), field.description)


def _row(key: str, *cells: str | None) -> str:
    texts = [" ".join(inspect.cleandoc(cell or "").split()).replace("|", "\\|") for cell in cells]
    return f"| `{key}` | {' | '.join(texts)} |"


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    value: Any = field.default
    if value in (None, ()):
        return "none"
    if value == {}:
        return "empty"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return f"`{list(value)}`"
    if isinstance(value, str):
        return f"`{value}`"
    units = {item.name for item in field.metadata if isinstance(item, Unit)}
    return f"{value:g}" if isinstance(value, float) else f"{value}{_in_words(value, units)}"


def _in_words(value: int, units: set[str]) -> str:
    """Return a round number of bytes or seconds as people say it."""
    for unit, size in (("GiB", 2**30), ("MiB", 2**20)):
        if "bytes" in units and value and value % size == 0:
            return f" ({value // size} {unit})"
    return f" ({value // _HOUR} h)" if "seconds" in units and value and value % _HOUR == 0 else ""

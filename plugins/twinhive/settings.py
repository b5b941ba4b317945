"""Load and validate the clusters and the policies of a configuration directory.

    <directory>/clusters.yaml         cluster name -> metastore, file system, job tracker (seed 000)
    <directory>/policies/<any>.yaml   one policy a file

A file that cannot be used never hides the others: it becomes an entry that carries its error.
"""

import json
import os
import re
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from twinhive.connections import Connection, environment_name, parse_connection
from twinhive.domain.errors import InvalidSettings
from twinhive.domain.files import short_hash

POLICY_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

Resolve = Callable[[str], Connection]


def _compiles(pattern: str) -> str:
    try:
        re.compile(pattern)
    except re.error as error:
        raise ValueError(f"not a regular expression: {error}") from error
    return pattern


def _lower(name: str) -> str:
    return name.lower()


Pattern = Annotated[str, AfterValidator(_compiles)]
DatabaseName = Annotated[str, Field(pattern=r"^\w+$"), AfterValidator(_lower)]
AbsolutePath = Annotated[str, Field(pattern=r"^([a-z][a-z0-9+.-]*://[^/]*)?/.*[^/]$")]
Letters = Annotated[str, Field(pattern=r"^[rbugpcaxt]*$")]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class MetastoreSettings(_Strict):
    """Where a cluster's metastore is: Airflow connections, or addresses."""

    connection: str | None = None
    uris: tuple[Annotated[str, Field(pattern=r"^thrift://[^:/]+:\d+$")], ...] = ()
    user: str | None = None
    timeout_seconds: Annotated[int, Field(ge=1, le=3600)] = 60

    @model_validator(mode="after")
    def _one_of(self) -> "MetastoreSettings":
        if bool(self.connection) == bool(self.uris):
            raise ValueError("give either connection or uris")
        return self


class FileSystemSettings(_Strict):
    """Where a cluster's file system is: an Airflow connection, or a URI with Hadoop properties."""

    connection: str | None = None
    uri: Annotated[str, Field(pattern=r"^[a-z][a-z0-9+.-]*://[^/]*$")] | None = None
    user: str | None = None
    hadoop: Mapping[str, str] = {}

    @model_validator(mode="after")
    def _one_of(self) -> "FileSystemSettings":
        if bool(self.connection) == bool(self.uri):
            raise ValueError("give either connection or uri")
        return self


class JobTrackerSettings(_Strict):
    """Where a cluster runs jobs: the id of a Spark connection."""

    connection: str


class ClusterSettings(_Strict):
    """One cluster."""

    metastore: MetastoreSettings
    file_system: FileSystemSettings
    job_tracker: JobTrackerSettings


class _ClustersFile(_Strict):
    clusters: dict[str, ClusterSettings]


class AddressSettings(_Strict):
    """A database on a cluster."""

    cluster: str
    database: DatabaseName


class TablesSettings(_Strict):
    """Which tables and views: regular expressions that match whole names in any case."""

    include: Annotated[tuple[Pattern, ...], Field(min_length=1)] = (".*",)
    exclude: tuple[Pattern, ...] = ()


class ExternalSettings(_Strict):
    """External tables; see `twinhive.domain.external.External` for meanings and units."""

    include: bool = True
    # What it has to be is checked by a gate, which can ask the replica.
    base_directory: str | None = None
    data: Literal["copy", "metadata_only"] = "copy"
    stay: tuple[Pattern, ...] = ()
    missing: Literal["fail", "empty"] = "fail"
    delete: Literal["trash", "permanently", "no"] = "trash"
    trash_days: Annotated[float, Field(ge=0)] = 1.0
    preserve: Letters = "ugpa"
    snapshots: bool = False
    every_minutes: Annotated[int, Field(ge=1, le=59)] = 5
    pool: str = "default_pool"


_EXTERNAL_TUNING = {"missing", "delete", "trash_days", "preserve", "snapshots", "every_minutes", "pool"}


class OptionsSettings(_Strict):
    """Tuning; see `twinhive.domain.policy.Options` for meanings and units."""

    batch_objects: Annotated[int, Field(ge=1, le=1_000_000)] = 2_000
    batch_bytes: Annotated[int, Field(ge=1)] = 64 * 2**30
    copy_threads: Annotated[int, Field(ge=1, le=64)] = 8
    spark_tasks: Annotated[int, Field(ge=1, le=10_000)] = 2
    parallel_copies: Annotated[int, Field(ge=1, le=500)] = 4
    bandwidth_mb: Annotated[float, Field(gt=0)] | None = None
    partitions_per_call: Annotated[int, Field(ge=1, le=10_000)] = 1_000
    window_events: Annotated[int, Field(ge=1, le=1_000_000)] = 10_000
    window_bytes: Annotated[int, Field(ge=1)] = 64 * 2**20
    spark_above_files: Annotated[int, Field(ge=0)] = 500
    spark_above_bytes: Annotated[int, Field(ge=0)] = 2**30
    rest_events: Annotated[int, Field(ge=0)] = 10_000
    most_rounds: Annotated[int, Field(ge=1, le=1_000)] = 20
    consistency: Literal["every_event", "window_end"] = "every_event"
    on_object_error: Literal["stop", "quarantine"] = "stop"
    silent_writes: Literal["follow", "report", "fail"] = "follow"
    settle_seconds: Annotated[int, Field(ge=0)] = 60
    grace_seconds: Annotated[int, Field(ge=0)] = 6 * 3600
    parallelism: Annotated[int, Field(ge=2, le=1_000)] = 8
    approx_max_load_tasks: Annotated[int, Field(ge=2)] | None = None
    external_weight: Annotated[int, Field(ge=1)] = 16 * 2**30
    spark_conf: Mapping[str, str] = {}


class PolicySettings(_Strict):
    """One policy file."""

    policy: Annotated[str, Field(pattern=f"^{POLICY_NAME.pattern}$")]
    source: AddressSettings
    replica: AddressSettings
    tables: TablesSettings = TablesSettings()
    external_tables: ExternalSettings = ExternalSettings()
    dump_root: AbsolutePath = "/twinhive/dumps"
    staging_root: AbsolutePath = "/twinhive/staging"
    options: OptionsSettings = OptionsSettings()
    # Seconds; None: the monitor never complains.
    max_lag: Annotated[float, Field(gt=0)] | None = None
    # Tables of the source that have an asset of their own.
    announced_tables: tuple[Pattern, ...] = ()

    @property
    def fingerprint(self) -> str:
        """Identify all that a dump depends on; tuning is not part of it."""
        tuning: dict[str, Any] = {
            "options": True,
            "external_tables": _EXTERNAL_TUNING,
            "max_lag": True,
            "announced_tables": True,
        }
        return short_hash(json.dumps(self.model_dump(exclude=tuning), sort_keys=True))


@dataclass(frozen=True)
class PolicyEntry:
    """A policy file: its settings, or the error that keeps it from being used."""

    name: str
    path: Path
    settings: PolicySettings | None
    error: str | None = None

    def usable(self) -> PolicySettings:
        """Return the settings. Raises InvalidSettings with all that is wrong with the file."""
        if self.settings is None or self.error:
            raise InvalidSettings(
                self.error or f"policy {self.name} cannot be used",
                next_step=f"correct {self.path.name}, then clear this task; check with: twinhive check {self.name}",
            )
        return self.settings


@dataclass(frozen=True)
class Configuration:
    """All clusters and policies of a configuration directory, policies by name."""

    clusters: Mapping[str, ClusterSettings]
    policies: Mapping[str, PolicyEntry]

    def policy(self, name: str) -> PolicyEntry:
        """Return a policy's entry. Raises InvalidSettings that lists the known names."""
        if name not in self.policies:
            raise InvalidSettings(
                f"there is no policy {name}",
                expected=f"one of {', '.join(sorted(self.policies)) or '(no policy file found)'}",
                next_step="list the policies with: twinhive policies",
            )
        return self.policies[name]


def load_configuration(directory: Path) -> Configuration:
    """Read everything; broken files become entries with an error, never exceptions."""
    clusters, clusters_error = load_clusters(directory / "clusters.yaml")
    paths = sorted([*(directory / "policies").glob("*.yaml"), *(directory / "policies").glob("*.yml")])
    entries = [_load_policy(path, clusters, clusters_error) for path in paths]
    return Configuration(clusters, _without_conflicts(entries))


def default_directory() -> Path:
    """Return the configuration directory: `TWINHIVE_CONFIG`, else `dags` beside the caller."""
    return Path(os.environ.get("TWINHIVE_CONFIG") or "dags")


def resolve_from_environment(connection_id: str) -> Connection:
    """Resolve a connection as Airflow would from its environment, without Airflow."""
    text = os.environ.get(environment_name(connection_id))
    if text is None:
        raise InvalidSettings(
            f"connection {connection_id} is not known",
            found=f"no variable {environment_name(connection_id)}",
            next_step=f"set {environment_name(connection_id)}, or name another connection in clusters.yaml",
        )
    return parse_connection(connection_id, text)


def load_clusters(path: Path) -> tuple[Mapping[str, ClusterSettings], str | None]:
    """Read the clusters, and what is wrong with the file."""
    try:
        return _ClustersFile.model_validate(_read_yaml(path)).clusters, None
    except (OSError, yaml.YAMLError, ValueError) as error:
        return {}, _explain(path, error, _ClustersFile)


def _load_policy(path: Path, clusters: Mapping[str, ClusterSettings], clusters_error: str | None) -> PolicyEntry:
    name = path.stem if POLICY_NAME.fullmatch(path.stem) else f"policy-{short_hash(path.stem, 8)}"
    try:
        content = _read_yaml(path)
        given = content.get("policy") if isinstance(content, dict) else None
        name = given if isinstance(given, str) and POLICY_NAME.fullmatch(given) else name
        settings = PolicySettings.model_validate(content)
    except (OSError, yaml.YAMLError, ValueError) as error:
        return PolicyEntry(name, path, None, _explain(path, error, PolicySettings))
    return PolicyEntry(name, path, settings, clusters_error or _unknown_clusters(path, settings, clusters))


def _read_yaml(path: Path) -> Any:
    return yaml.load(path.read_text(encoding="utf-8"), Loader=_LOADER)  # noqa: S506 (a safe loader)


def _unknown_clusters(path: Path, settings: PolicySettings, clusters: Mapping[str, ClusterSettings]) -> str | None:
    lines = [
        f"{side}.cluster: found {address.cluster!r}, expected one of {', '.join(sorted(clusters))}"
        for side, address in (("source", settings.source), ("replica", settings.replica))
        if address.cluster not in clusters
    ]
    if settings.source == settings.replica:
        lines.append(f"replica: found the source itself ({settings.source.cluster}/{settings.source.database})")
    return _numbered(path, lines) if lines else None


def _without_conflicts(entries: list[PolicyEntry]) -> dict[str, PolicyEntry]:
    """Turn policies that share a name or a target red, all of them."""
    groups: dict[tuple[str, str], list[PolicyEntry]] = defaultdict(list)
    for entry in entries:
        groups["name", entry.name].append(entry)
        if entry.settings:
            target = entry.settings.replica
            groups["replica database", f"{target.cluster}/{target.database}"].append(entry)
    conflicts: dict[str, list[str]] = defaultdict(list)
    for (what, value), members in groups.items():
        if len(members) > 1:
            files = ", ".join(sorted(entry.path.name for entry in members))
            for name in {entry.name for entry in members}:
                conflicts[name].append(f"several policies have the same {what} {value}: {files}")
    return {
        entry.name: PolicyEntry(entry.name, entry.path, entry.settings, "\n".join(conflicts[entry.name]) or entry.error)
        for entry in entries
    }


def _explain(path: Path, error: Exception, model: type[BaseModel]) -> str:
    if isinstance(error, ValidationError):
        return _numbered(path, [_problem(problem, model) for problem in error.errors()])
    if isinstance(error, FileNotFoundError):
        return _numbered(path, ["the file does not exist"])
    return _numbered(path, [f"not readable YAML: {' '.join(str(error).split())}"])


def _problem(problem: Any, model: type[BaseModel]) -> str:
    """Say key, value found, and what is allowed."""
    key = ".".join(str(part) for part in problem["loc"]) or "(whole file)"
    if problem["type"] == "extra_forbidden":
        return f"{key}: unknown key, expected one of {', '.join(_siblings(problem['loc'], model))}"
    if problem["type"] == "missing":
        return f"{key}: missing"
    return f"{key}: found {problem['input']!r}; {problem['msg']}"


def _siblings(location: tuple[Any, ...], model: Any) -> list[str]:
    """Return the keys allowed beside an unknown one."""
    for part in location[:-1]:
        # A name that people choose (a cluster's) leads to the values of the mapping.
        model = model.model_fields[part].annotation if hasattr(model, "model_fields") else get_args(model)[1]
    return sorted(model.model_fields)


def _numbered(path: Path, lines: list[str]) -> str:
    text = "\n".join(f"  {number}. {line}" for number, line in enumerate(lines, start=1))
    return f"{path.name} cannot be used:\n{text}"

"""Write configuration directories and run their policies without Airflow."""

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import yaml

from twinhive.runtime.pipeline.phases import BOOTSTRAP, CONSOLIDATE, EXTERNAL, INCREMENTAL
from twinhive.runtime.pipeline.runner import run_bootstrap, run_phase, run_rounds
from twinhive.runtime.settings import load_configuration, resolve_from_environment
from twinhive.runtime.wiring.policy_wiring import Wiring

# A take-over of the lease waits for one time-out of a metastore call.
TIMEOUT_SECONDS = 5


def _cluster(name: str) -> dict[str, Any]:
    return {
        "metastore": {"connection": f"{name}_metastore", "timeout_seconds": TIMEOUT_SECONDS},
        "file_system": {"connection": f"{name}_hdfs"},
        "job_tracker": {"connection": f"{name}_spark"},
    }


class PolicyFiles:
    """Be a directory of clusters.yaml and policies/."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        (directory / "policies").mkdir(parents=True)
        self.write("clusters.yaml", {"clusters": {name: _cluster(name) for name in ("east", "west")}})

    def write(self, name: str, content: Any) -> None:
        """Write one file, YAML or text."""
        text = content if isinstance(content, str) else yaml.safe_dump(content, allow_unicode=True)
        (self.directory / name).write_text(text, encoding="utf-8")

    def add(self, database: str, replica: str | None = None, **more: Any) -> str:
        """Write a policy named like its database; return its name."""
        policy = {
            "policy": database,
            "source": {"cluster": "east", "database": database},
            "replica": {"cluster": "west", "database": replica or database},
            "options": {"copy_threads": 4, "batch_objects": 3, **more.pop("options", {})},
            **more,
        }
        self.write(f"policies/{database}.yaml", policy)
        return database

    def wiring(self, policy: str) -> Wiring:
        """Return the adapters of a policy."""
        return Wiring.of(load_configuration(self.directory), policy, resolve_from_environment)

    def run(
        self,
        policy: str,
        *stages: str,
        report: Callable[[str], None] = lambda line: None,
        earlier: Mapping[str, Any] = MappingProxyType({}),
    ) -> dict[str, Any]:
        """Run some stages of one phase, or a bootstrap to its end; `earlier` are results of stages run before."""
        wiring = self.wiring(policy)
        ports, holder = wiring.write_ports(), {"run": "test"}
        if not stages:
            return run_bootstrap(wiring.policy, ports, holder, report)
        phase = BOOTSTRAP if {stage.name for stage in BOOTSTRAP} >= set(stages) else CONSOLIDATE
        chosen = tuple(stage for stage in phase if stage.name in stages)
        return run_phase(chosen, wiring.policy, ports, holder, report, earlier)

    def finish(self, policy: str, report: Callable[[str], None] = lambda line: None) -> dict[str, Any]:
        """Run rounds of consolidating until the replica is published."""
        wiring = self.wiring(policy)
        return run_rounds(wiring.policy, wiring.write_ports(), {"run": "test"}, report)

    def follow(self, policy: str, report: Callable[[str], None] = lambda line: None) -> dict[str, Any]:
        """Cut and apply one window."""
        wiring = self.wiring(policy)
        return run_phase(INCREMENTAL, wiring.policy, wiring.write_ports(), {"run": "test"}, report)

    def copy_external(self, policy: str, report: Callable[[str], None] = lambda line: None) -> dict[str, Any]:
        """Make one pass over the data of external tables."""
        wiring = self.wiring(policy)
        return run_phase(EXTERNAL, wiring.policy, wiring.write_ports(), {"run": "test"}, report)

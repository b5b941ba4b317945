"""Find the configuration directory for operators and sensors in DAGs of others."""

from pathlib import Path

from airflow.sdk.configuration import conf

from twinhive.core.model.errors import InvalidSettings
from twinhive.runtime.settings import default_directory


def config_directory(given: str | None) -> Path:
    """Return the directory that an argument `config` names, else `TWINHIVE_CONFIG`, else Airflow's DAGs folder.

    Raises InvalidSettings when there is no clusters.yaml: with DAG bundles the DAGs folder is not where the DAGs are.
    """
    directory = Path(given) if given else default_directory(conf.get("core", "dags_folder"))
    if not (directory / "clusters.yaml").is_file():
        raise InvalidSettings(
            "the configuration of Twinhive is not found",
            found=f"no {directory / 'clusters.yaml'}",
            expected="a directory with clusters.yaml and policies/",
            next_step="set TWINHIVE_CONFIG for all of Airflow's components, or give the task `config`; then clear it",
        )
    return directory

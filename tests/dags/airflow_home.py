"""Give this process an Airflow of its own, before anything imports Airflow."""

import atexit
import os
import shutil
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

CHECKOUT = Path(__file__).resolve().parents[2]
_SETTINGS = {
    "CORE__DAGS_FOLDER": str(CHECKOUT / "dags"),
    "CORE__PLUGINS_FOLDER": str(CHECKOUT / "plugins"),
    "CORE__LOAD_EXAMPLES": "False",
    "LOGGING__LOGGING_LEVEL": "WARNING",
    # What a test says of 500 policies must not depend on how busy the machine is.
    "CORE__DAGBAG_IMPORT_TIMEOUT": "600",
    # Else Airflow keeps what another test has registered under the same id in the last 30 seconds.
    "CORE__MIN_SERIALIZED_DAG_UPDATE_INTERVAL": "0",
}


@cache
def use_own_airflow() -> Path:
    """Point Airflow to a new home whose database is an SQLite file; return the home."""
    assert "airflow" not in sys.modules, "Airflow has read its settings already"
    home = Path(tempfile.mkdtemp(prefix="twinhive-airflow-home-"))
    atexit.register(shutil.rmtree, home, ignore_errors=True)
    # A shell that is set up for another Airflow must not lend us its database, nor its journal.
    for name in [name for name in os.environ if name.startswith(("AIRFLOW__", "TWINHIVE_JOURNAL"))]:
        del os.environ[name]
    os.environ |= {"AIRFLOW_HOME": str(home), **{f"AIRFLOW__{key}": value for key, value in _SETTINGS.items()}}
    return home


@cache
def create_database() -> None:
    """Create Airflow's tables; only running a DAG needs them."""
    use_own_airflow()
    from airflow.utils.db import initdb

    initdb()


def parse_dags(config: Path) -> dict[str, Any]:
    """Return the DAGs of the checkout's DAG file over one configuration; no file may fail to be imported."""
    use_own_airflow()
    from airflow.dag_processing.dagbag import DagBag

    before = os.environ.get("TWINHIVE_CONFIG")
    os.environ["TWINHIVE_CONFIG"] = str(config)
    try:
        bag = DagBag(str(CHECKOUT / "dags"))
    finally:
        os.environ.pop("TWINHIVE_CONFIG")
        if before is not None:
            os.environ["TWINHIVE_CONFIG"] = before
    assert bag.import_errors == {}
    dags: dict[str, Any] = bag.dags
    return dags


def register(*dags: Any) -> None:
    """Let Airflow know DAGs that are in no file of the checkout, so that they can be run."""
    create_database()
    from airflow.dag_processing.bundles.manager import DagBundlesManager
    from airflow.dag_processing.dagbag import DagBag, sync_bag_to_db

    DagBundlesManager().sync_bundles_to_db()
    bag = DagBag(os.devnull, collect_dags=False)
    bag.dags = {dag.dag_id: dag for dag in dags}
    sync_bag_to_db(bag, "dags-folder", None)

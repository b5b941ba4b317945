"""What triggers keep in Airflow's database, and how they come to a metastore from that alone."""

from collections.abc import Callable
from typing import Any

from twinhive.hive.adapters.hive.hive_metastore import ThriftMetastore
from twinhive.runtime.settings import MetastoreSettings
from twinhive.runtime.wiring.policy_wiring import metastore
from twinhive.runtime.wiring.resolved_endpoints import metastore_endpoint
from twinhive.surfaces.airflow.connections.airflow_connections import resolve_from_airflow


def stored(trigger: object, *names: str) -> tuple[str, dict[str, Any]]:
    """Return what Airflow stores of a trigger: its class, and the arguments of these names, kept as attributes."""
    kind = type(trigger)
    return f"{kind.__module__}.{kind.__qualname__}", {name: getattr(trigger, name) for name in names}


def opener(settings: str) -> Callable[[], ThriftMetastore]:
    """Return how a metastore is opened from its settings in clusters.yaml, in JSON."""
    parsed = MetastoreSettings.model_validate_json(settings)
    return lambda: metastore(metastore_endpoint(parsed, resolve_from_airflow))

"""Tell Airflow what this distribution brings beside DAGs; it is asked by the entry point `apache_airflow_provider`."""

from typing import Any


def provider_info() -> dict[str, Any]:
    """Return it in the words of Airflow's `provider_info.schema.json`."""
    return {
        "package-name": "twinhive",
        "name": "Twinhive",
        "description": "Twins of Hive warehouses, and messages about their partitions",
        "queues": ["twinhive.surfaces.airflow.queues.stomp_queue.StompQueueProvider"],
    }

"""Assets to start DAGs on: `database`, `table`, `sets` and `verified` of a replica. See docs/consumers.md."""

from twinhive.surfaces.airflow.dags.announced_assets import database, sets, table, verified

__all__ = ["database", "sets", "table", "verified"]

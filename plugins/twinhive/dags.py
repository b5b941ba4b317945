"""The DAGs of all policies of a configuration directory: what `dags/replication.py` calls."""

from twinhive.surfaces.airflow.dag_factory import replication_dags

__all__ = ["replication_dags"]

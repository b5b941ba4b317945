"""Sensors for DAGs of one's own: they wait until a replica, external tables, or a set of partitions are there."""

from twinhive.surfaces.airflow.sensors.event_id_sensor import ReplicatedEventIdSensor
from twinhive.surfaces.airflow.sensors.external_sensor import ExternalTablesInSync
from twinhive.surfaces.airflow.sensors.set_sensor import SetDoneSensor

__all__ = ["ExternalTablesInSync", "ReplicatedEventIdSensor", "SetDoneSensor"]

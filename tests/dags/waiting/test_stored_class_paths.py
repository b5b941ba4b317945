"""What Airflow has stored under the class paths of before the areas is found there for one more version."""

from importlib import import_module

import pytest
from airflow.sdk._shared.module_loading import import_string, qualname

from twinhive import airflow_edge
from twinhive.operators import MarkSetDoneOperator
from twinhive.sensors import ReplicatedEventIdSensor
from twinhive.surfaces.airflow.dags.run_ids import StartedByPeople
from twinhive.surfaces.airflow.provider import provider_info
from twinhive.surfaces.airflow.queues.stomp_queue import StompQueueProvider
from twinhive.surfaces.airflow.triggers.event_id_trigger import EventIdTrigger
from twinhive.surfaces.airflow.triggers.message_trigger import StompTrigger
from twinhive.surfaces.airflow.triggers.notification_trigger import NotificationTrigger
from twinhive.surfaces.airflow.triggers.set_trigger import SetDoneTrigger
from twinhive_timetables_plugin import TwinhiveTimetables

BEFORE = {
    "waiting.event_id_trigger.EventIdTrigger": EventIdTrigger,
    "waiting.message_trigger.StompTrigger": StompTrigger,
    "waiting.notification_trigger.NotificationTrigger": NotificationTrigger,
    "waiting.set_trigger.SetDoneTrigger": SetDoneTrigger,
    "dags.run_ids.StartedByPeople": StartedByPeople,
    "stomp_queue.StompQueueProvider": StompQueueProvider,
    "provider.provider_info": provider_info,
    "event_id_sensor.ReplicatedEventIdSensor": ReplicatedEventIdSensor,
    "set_operators.MarkSetDoneOperator": MarkSetDoneOperator,
}


@pytest.mark.parametrize("path", BEFORE)
def test_a_class_path_of_before_leads_to_the_class_of_now(path: str) -> None:
    assert import_string(f"twinhive.airflow_edge.{path}") is BEFORE[path]


@pytest.mark.parametrize("old", airflow_edge.MOVED)
def test_each_module_of_before_has_one_of_now(old: str) -> None:
    import_module(airflow_edge.MOVED[old])
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        import_module(f"twinhive.airflow_edge.{old}").nothing  # noqa: B018


def test_airflow_reads_back_what_it_has_stored_of_dags_of_before() -> None:
    path = "twinhive.airflow_edge.dags.run_ids.StartedByPeople"
    [timetable] = [one for one in TwinhiveTimetables().timetables if qualname(one) == path]
    assert issubclass(timetable, StartedByPeople)
    assert timetable.deserialize({}).description == StartedByPeople.description


def test_a_module_that_has_not_moved_there_is_not_found() -> None:
    with pytest.raises(ImportError):
        import_module("twinhive.airflow_edge.monitor.metrics")

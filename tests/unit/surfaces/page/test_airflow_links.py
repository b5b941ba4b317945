"""Addresses lead to Airflow's pages wherever it is mounted, whatever the names hold."""

from twinhive.operations.journal.records import WHOLE_RUN
from twinhive.surfaces.page.airflow_links import Links

LINKS = Links(airflow="/airflow", page="/airflow/replication")


def test_a_run_and_a_task_are_addressed_as_airflow_does() -> None:
    assert LINKS.dag("sales.operate") == "/airflow/dags/sales.operate"
    assert LINKS.run("a.b", "manual__1+00:00") == "/airflow/dags/a.b/runs/manual__1%2B00%3A00"
    task = "/airflow/dags/a.b/runs/r/tasks/tables.copy"
    assert LINKS.task("a.b", "r", "tables.copy", -1) == task
    assert LINKS.task("a.b", "r", "tables.copy", 3) == f"{task}/mapped/3"
    assert LINKS.task("a.b", "r", "tables.copy", 0, 2) == f"{task}/mapped/0?try_number=2"


def test_names_cannot_leave_their_place_in_an_address() -> None:
    assert LINKS.policy("../x?y#z/<a>") == "/airflow/replication/policies/..%2Fx%3Fy%23z%2F%3Ca%3E"
    assert LINKS.policy("sales", search='"&x=1') == "/airflow/replication/policies/sales?search=%22%26x%3D1"


def test_what_was_not_asked_for_is_not_in_the_address() -> None:
    assert LINKS.overview(search="", page=2) == "/airflow/replication/?page=2"
    assert LINKS.overview() == "/airflow/replication/"


def test_a_failure_that_no_task_could_say_leads_to_its_run() -> None:
    assert LINKS.task("sales.scan", "r1", WHOLE_RUN, -1, 0) == LINKS.run("sales.scan", "r1")

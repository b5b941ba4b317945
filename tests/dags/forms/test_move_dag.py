"""`twinhive.move_primary`: a form that changes nothing by default, over two clusters of one metastore in memory."""

from typing import Any

import pytest

from tests.dags.airflow_home import parse_dags
from tests.dags.task_context import a_context
from tests.dags.tasks.test_cluster_sql import submitted, world  # noqa: F401
from tests.support.policies import PolicyFiles
from tests.support.worlds.copies_world import CopiesWorld
from twinhive.core.model.errors import ActNow
from twinhive.runtime.settings import load_configuration
from twinhive.runtime.wiring.cluster_wiring import ClustersWiring
from twinhive.runtime.wiring.table_move import MoveWiring
from twinhive.surfaces.airflow.dags.move_dag import MOVE, move_dag
from twinhive.surfaces.airflow.monitor.task_failures import PersonMustAct

FORM = {"table": "sales.plain", "cluster": "north", "root": "hdfs://north/home"}


@pytest.fixture
def moved(
    monkeypatch: pytest.MonkeyPatch,
    policies: PolicyFiles,
    submitted: list[Any],  # noqa: F811
    world: CopiesWorld,  # noqa: F811
) -> CopiesWorld:
    monkeypatch.setattr(ClustersWiring, "metastore", lambda _, cluster: world.metastore)
    monkeypatch.setattr(MoveWiring, "write_ports", lambda _: world.ports())
    return world


def move(policies: PolicyFiles, **form: Any) -> list[str]:
    dag = move_dag(policies.directory, load_configuration(policies.directory))
    [task] = dag.tasks
    return list(task.execute(a_context(dag, "move", **{**FORM, **form})))


def test_it_is_there_where_clusters_share_a_metastore(policies: PolicyFiles, world: CopiesWorld) -> None:  # noqa: F811
    dag = parse_dags(policies.directory)[MOVE]
    assert dag.params.get_param("cluster").schema["enum"] == [None, "east", "north"]
    (policies.directory / "clusters.yaml").unlink()
    other = PolicyFiles(policies.directory / "other")
    assert MOVE not in parse_dags(other.directory)


def test_a_form_says_what_would_be_done_and_then_does_it(policies: PolicyFiles, moved: CopiesWorld) -> None:
    before = moved.metastore.current_event_id()
    planned = move(policies)
    assert moved.metastore.current_event_id() == before
    done = move(policies, dry_run=False)
    assert done and set(done) <= set(planned)
    table = moved.users.table("plain")
    assert table.parameters["twinhive.cluster"] == "north"
    assert table.location.startswith("hdfs://north/home/")
    assert move(policies, dry_run=False) == ["sales.plain belongs to north"]


@pytest.mark.parametrize(
    ("form", "says"),
    [
        ({"table": "plain"}, "'plain' is no name of a table"),
        ({"cluster": None}, "no table can be moved to cluster"),
        ({"root": None}, r"has no twinhive\.root\.north"),
        ({"table": "sales.nowhere"}, r"there is no table sales\.nowhere"),
        ({"colour": "red"}, "unknown keys"),
    ],
)
def test_a_form_that_cannot_be_used_is_refused(
    policies: PolicyFiles, moved: CopiesWorld, form: dict[str, Any], says: str
) -> None:
    with pytest.raises(PersonMustAct, match=says):
        move(policies, **form)


def test_a_failed_move_is_red_and_the_cleared_task_goes_on(
    policies: PolicyFiles, moved: CopiesWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise ActNow("refused")

    with monkeypatch.context() as failing:
        failing.setattr(moved.metastore, "alter_table", refuse)
        with pytest.raises(PersonMustAct):
            move(policies, dry_run=False)
    assert move(policies, dry_run=False)
    assert moved.users.table("plain").parameters["twinhive.cluster"] == "north"

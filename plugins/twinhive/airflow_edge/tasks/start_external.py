"""Start the policy's data lane behind the fence: a failover wants a complete copy that began when nobody wrote."""

from pathlib import Path
from typing import Any

from airflow.providers.standard.operators.trigger_dagrun import TriggerDagRunOperator

from twinhive.airflow_edge.connections import resolve_from_airflow
from twinhive.airflow_edge.dags.forms import checked_form
from twinhive.airflow_edge.dags.lanes import EXTERNAL_LANE
from twinhive.airflow_edge.monitor.failures import as_airflow_failures
from twinhive.airflow_edge.tasks.failover_tasks import UNPLANNED
from twinhive.operations.promoting import said_of_promoted
from twinhive.settings import load_configuration
from twinhive.wiring.policies import Wiring

START_EXTERNAL = "start_external"


class StartExternal(TriggerDagRunOperator):
    """Start a run of `<policy>.external` that is named by this run; cleared, it starts that one again.

    Runs of that DAG wait for each other: one that began before the fence ends first.
    """

    ui_color = "#fde8e8"
    template_fields = ()

    def __init__(self, *, config: str, policy: str, **kwargs: Any) -> None:
        super().__init__(
            trigger_dag_id=f"{policy}.{EXTERNAL_LANE}",
            logical_date=None,
            reset_dag_run=True,
            openlineage_inject_parent_info=False,
            **kwargs,
        )
        self.config = config
        self.policy = policy

    def execute(self, context: Any) -> None:
        """Start it, unless the failover is unplanned or has happened."""
        with as_airflow_failures():
            form = checked_form(context)
            wiring = Wiring.of(load_configuration(Path(self.config)), self.policy, resolve_from_airflow)
            said = said_of_promoted(wiring.write_ports(), wiring.policy)
        if said or form["mode"] == UNPLANNED:
            self.log.info(said[0] if said else "nothing to do: an unplanned failover asks nothing of the source")
            return
        self.trigger_run_id = f"for-failover-{context['run_id']}"
        super().execute(context)

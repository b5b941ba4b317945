"""Start a lane of the policy for a switch, which would wait for the lane's clock otherwise."""

from typing import Any

from airflow.providers.standard.operators.trigger_dagrun import TriggerDagRunOperator

from twinhive.operations.actions.pause import Unpause
from twinhive.operations.failover.promote import said_of_promoted
from twinhive.runtime.settings import PolicyEntry
from twinhive.surfaces.airflow.dags.lane_priorities import brings_data
from twinhive.surfaces.airflow.dags.run_forms import checked_form
from twinhive.surfaces.airflow.monitor.task_failures import as_airflow_failures
from twinhive.surfaces.airflow.tasks.failover_tasks import UNPLANNED
from twinhive.surfaces.airflow.tasks.switch_task import wired

START_INCREMENTAL, START_EXTERNAL = "start_incremental", "start_external"


def wants_external(entry: PolicyEntry) -> bool:
    """Tell whether a policy has external data to copy; one that cannot be used has none."""
    return entry.settings is not None and not entry.error and brings_data(entry.settings)


class StartLane(TriggerDagRunOperator):
    """Start a run of the DAG of a phase that is named by this run; cleared, it starts that one again.

    Runs of that DAG wait for each other: one that began before ends first.

    goes_on   the policy is paused, and goes on with this
    """

    ui_color = "#fde8e8"
    template_fields = ()

    def __init__(self, *, phase: str, config: str, policy: str, goes_on: bool = False, **kwargs: Any) -> None:
        super().__init__(
            trigger_dag_id=f"{policy}.{phase}",
            logical_date=None,
            reset_dag_run=True,
            openlineage_inject_parent_info=False,
            **kwargs,
        )
        self.config = config
        self.policy = policy
        self.goes_on = goes_on

    def execute(self, context: Any) -> None:
        """Start it, unless a failover is unplanned or has happened."""
        with as_airflow_failures():
            form = checked_form(context)
            wiring = wired(self.config, self.policy)
            ports = wiring.write_ports()
            said = said_of_promoted(ports, wiring.policy)
            if said or form.get("mode") == UNPLANNED:
                self.log.info(said[0] if said else "nothing to do: an unplanned failover asks nothing of the source")
                return
            for line in Unpause(wiring.policy).run(ports) if self.goes_on else ():
                self.log.info(line)
        self.trigger_run_id = f"for-{context['dag'].dag_id.rpartition('.')[2]}-{context['run_id']}"
        super().execute(context)

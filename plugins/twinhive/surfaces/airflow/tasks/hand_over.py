"""Start the run that goes on with the dump that this run has made."""

from typing import Any

from airflow.providers.standard.operators.trigger_dagrun import TriggerDagRunOperator

from twinhive.runtime.pipeline.phases import HandOver
from twinhive.surfaces.airflow.dags.run_forms import checked_form
from twinhive.surfaces.airflow.monitor.recording import recorded_task
from twinhive.surfaces.airflow.monitor.task_failures import as_airflow_failures
from twinhive.surfaces.airflow.tasks.dry_run import leave_to_a_real_run
from twinhive.surfaces.airflow.tasks.stage_task import StageOf
from twinhive.surfaces.airflow.tasks.step_task import SUMMARY


class HandOverOperator(TriggerDagRunOperator):
    """Start a run that is named by the dump (or the pass), so that one dump is taken over once.

    A run of this name that exists already is cleared, and so goes on where it was. The form's values
    are handed over as far as the other DAG has them.
    """

    template_fields = ()

    def __init__(self, *, stage: StageOf, hand_over: HandOver, **kwargs: Any) -> None:
        super().__init__(
            trigger_dag_id=f"{stage.policy}.{hand_over.phase}",
            logical_date=None,
            reset_dag_run=True,
            openlineage_inject_parent_info=False,
            **kwargs,
        )
        self.stage = stage
        self.hand_over = hand_over

    def execute(self, context: Any) -> None:
        """Start it, unless there is nothing to hand over."""
        with as_airflow_failures():
            form = checked_form(context)
            leave_to_a_real_run(form)
            with recorded_task(self.stage, context):
                self.stage.wiring()
        planned = context["ti"].xcom_pull(task_ids=self.hand_over.dump_of, key=SUMMARY) or {}
        if why_not := self.hand_over.why_not(planned):
            self.log.info(why_not)
            return
        self.trigger_run_id = f"after-{planned.get('dump') or context['run_id']}"
        self.conf = {"copy_threads": form["copy_threads"]}
        super().execute(context)

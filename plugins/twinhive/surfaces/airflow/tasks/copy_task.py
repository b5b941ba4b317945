"""Submit the copy of one batch as a Spark job."""

import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from airflow.providers.apache.spark.hooks.spark_submit import SparkSubmitHook
from airflow.providers.apache.spark.operators.spark_submit import SparkSubmitOperator

from twinhive.core.model.human_readable import readable
from twinhive.core.model.text import Text
from twinhive.federation.placement.copy_objects import CopyObjects
from twinhive.hive.adapters.class_archive import class_archive
from twinhive.hive.adapters.spark_package import native_package, package_cache, python_package
from twinhive.replication.bootstrap.copy_batch import CopyBatch
from twinhive.runtime.spark.applications import application_file
from twinhive.runtime.spark.copy_settings import CopySettings, ListedCopy
from twinhive.runtime.spark.environment import ALWAYS, quiet_and_quick, spark_environment
from twinhive.runtime.spark.executor_progress import MOVES
from twinhive.runtime.spark.submitter_lock import held
from twinhive.runtime.wiring.policy_wiring import Wiring
from twinhive.surfaces.airflow.connections.airflow_connections import resolve_from_airflow
from twinhive.surfaces.airflow.dags.run_forms import checked_form
from twinhive.surfaces.airflow.monitor.recording import recorded
from twinhive.surfaces.airflow.monitor.task_failures import as_airflow_failures
from twinhive.surfaces.airflow.tasks.dry_run import leave_to_a_real_run
from twinhive.surfaces.airflow.tasks.log_groups import folded
from twinhive.surfaces.airflow.tasks.spark_exit_codes import explain_spark_failure
from twinhive.surfaces.airflow.tasks.stage_task import StageOf
from twinhive.transfer.staged.job import CopyJob

SETTINGS = "settings.json"


class CopyOperator(SparkSubmitOperator):
    """Copy one batch with Spark.

    Always `durable=False`: Airflow's store of job ids survives a clear, and a cleared task would
    then report the old job's success without copying anything.
    """

    template_fields: Sequence[str] = (*SparkSubmitOperator.template_fields, "batch")
    ui_color = "#fde8d8"

    def __init__(self, *, stage: StageOf, application: str, batch: Any = None, **kwargs: Any) -> None:
        super().__init__(application=application, durable=False, **kwargs)
        self.stage = stage
        self.batch = batch
        self._moves: Callable[[], None] = lambda: None

    def execute(self, context: Any) -> None:
        """Submit the job, unless there is nothing to copy."""
        with as_airflow_failures():
            leave_to_a_real_run(checked_form(context))
            with recorded(self.stage, context, self.batch) as recording:
                wiring = self.stage.wiring()
                ports = wiring.write_ports()
                step = self.stage.step(wiring, self.batch, context, self.log.info)
                assert isinstance(step, CopyBatch | CopyObjects)
                job = step.job(ports)
                if job is not None:
                    self._moves = recording.moves
                    self._submit(job, step.mend, wiring, context)
                recording.succeeded(job, wiring, ports)

    def _get_hook(self) -> SparkSubmitHook:
        """Return the hook that calls Spark, and hear in what it reads that the job goes on."""
        hook = super()._get_hook()
        read = hook._process_spark_submit_log
        hook._process_spark_submit_log = lambda itr: read(self._heard(itr))  # type: ignore[method-assign]
        return hook

    def _heard(self, lines: Iterator[Any]) -> Iterator[Any]:
        # Spark itself has something to say also while nobody copies: that there is no executor, say.
        for line in lines:
            if str(line).startswith(MOVES):
                self._moves()
            yield line

    def _submit(self, job: CopyJob, mend: Text, wiring: Wiring, context: Any) -> None:
        # An unknown id would be submitted to YARN without a word.
        resolve_from_airflow(wiring.replica.job_tracker.connection)
        cache = package_cache()
        self.env_vars = spark_environment()
        java, spark = self.env_vars["JAVA_HOME"], self.env_vars["SPARK_HOME"]
        with (
            class_archive(cache, java, spark) as archive,
            tempfile.TemporaryDirectory(prefix="twinhive-copy-") as directory,
        ):
            self.conf = {**quiet_and_quick(archive.options), **(self.conf or {}), **ALWAYS}
            self._spark_binary = f"{spark}/bin/spark-submit"
            self._prepare(job, wiring, context, Path(directory), cache)
            self.log.info("%s: at most %s files with %s to copy", job.label, f"{job.files:,}", readable(job.bytes))
            try:
                # A killed task lets go of the file, and Spark ends: two jobs must not share the bandwidth and memory.
                with folded(self.log.info, "Spark's own log"), held(Path(directory, SETTINGS)):
                    super().execute(context)
            except Exception as error:
                raise explain_spark_failure(error, job.label, mend) from None
            archive.job_has_succeeded()

    def _prepare(self, job: CopyJob, wiring: Wiring, context: Any, directory: Path, cache: Path) -> None:
        """Fill in what the job needs; its settings are a file, because arguments show in the UI."""
        settings = directory / SETTINGS
        settings.write_text(self._settings(job, wiring, context).to_json(), encoding="utf-8")
        # Where it is now: a package that was installed by itself has it beside the DAGs.
        self.application = str(application_file(Path(self.application).stem))
        self.name = f"twinhive {wiring.policy.name} {job.label}"
        self.py_files = str(python_package(cache))
        self._archives = f"{native_package(cache)}#native"
        self.application_args = [str(settings)]

    def _settings(self, job: CopyJob, wiring: Wiring, context: Any) -> CopySettings:
        options = wiring.policy.options
        tasks = options.spark_tasks_for(job.files, job.bytes, job.batch_weight)
        return CopySettings(
            wiring.source_endpoint,
            wiring.replica_endpoint,
            ListedCopy(
                job,
                wiring.dump_endpoint,
                dump_name=self.batch["dump"],
                batch=self.batch["name"],
                lost_ok=options.on_object_error == "quarantine",
                permissions=options.permissions,
            ),
            threads=context["params"]["copy_threads"],
            tasks=tasks,
            bytes_per_second=options.bytes_per_second_of_a_spark_task(tasks),
        )

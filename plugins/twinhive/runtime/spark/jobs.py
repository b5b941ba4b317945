"""Run one job of spark_jobs/ to its end: its settings are a private file, and it ends when its submitter does."""

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from twinhive.core.model.endpoints import FileSystemEndpoint
from twinhive.core.model.policy import Options
from twinhive.runtime.spark.cluster import SparkCluster
from twinhive.runtime.spark.copy_settings import CopySettings, ListedCopy
from twinhive.runtime.spark.job_outcome import NextSteps, causes, explain, last_words, result_beside
from twinhive.runtime.spark.spark_submit import Submission
from twinhive.runtime.spark.submitter_lock import held

COPY_FILES = "copy_files"
"""The application that copies."""


@dataclass(frozen=True)
class Job:
    """One run of an application; `label` says for people what it does."""

    application: str
    cluster: SparkCluster
    label: str
    next_steps: NextSteps
    user: str | None = None
    """Who Spark's own reads and writes are done as; None: as this process."""

    def run(self, text: str, say: Callable[[str], None], confirm: Callable[[], None] = lambda: None) -> str:
        """Hand `text` over as the settings and wait for the end; `say` takes what the job says.

        Returns what the job has written beside its settings, '' for nothing. What `confirm` raises ends the job. Raises
        TryAgain when it has not come to its end, ActNow when it never would.
        """
        with tempfile.TemporaryDirectory(prefix="twinhive-job-") as directory:
            settings = Path(directory, "settings.json")
            settings.touch(mode=0o600)
            settings.write_text(text, encoding="utf-8")
            submission = Submission(self.application, str(settings), self.cluster, self.label, self.user)
            with held(settings):
                ended = submission.run(say, confirm)
            if not ended.code:
                result = result_beside(settings)
                return result.read_text(encoding="utf-8") if result.exists() else ""
        otherwise = f"exit code {ended.code}"
        if reason := causes(ended.output):
            otherwise += f": {reason}"
        raise explain(self.label, ended.code, last_words(ended.output, self.application), otherwise, self.next_steps)


def copy_by_spark(
    what: ListedCopy,
    source: FileSystemEndpoint,
    target: FileSystemEndpoint,
    options: Options,
    cluster: SparkCluster,
    next_steps: NextSteps,
    say: Callable[[str], None],
) -> None:
    """Copy all files of a list, for who is no Airflow task.

    Raises TryAgain, and ActNow when a file cannot be copied; the result file tells which.
    """
    # Batches of a statement follow each other: its tasks share the whole bandwidth.
    rate = options.bytes_per_second and options.bytes_per_second / cluster.tasks
    settings = CopySettings(source, target, what, options.copy_threads, cluster.tasks, rate)
    Job(COPY_FILES, cluster, what.label, next_steps).run(settings.to_json(), say)

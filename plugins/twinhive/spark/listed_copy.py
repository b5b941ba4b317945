"""Copy a listed batch by Spark, for who is no Airflow task: submit spark_jobs/copy_files.py, and wait for it."""

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from twinhive.spark.cluster import SparkCluster
from twinhive.spark.endings import NextSteps
from twinhive.spark.jobs import Job
from twinhive.transfer.staged.job import JobSettings

_APPLICATION = "copy_files"


@dataclass(frozen=True)
class ListedCopy:
    """A batch's list, where its files are staged, and where the result goes; all are URIs."""

    listing: str
    staging: str
    result: str

    def run(
        self, cluster: SparkCluster, settings: JobSettings, next_steps: NextSteps, say: Callable[[str], None]
    ) -> None:
        """Copy all files. Raises TryAgain, and ActNow when a file cannot be copied; the result file tells which."""
        arguments = ("--listing", self.listing, "--staging", self.staging, "--result", self.result)
        with tempfile.TemporaryDirectory(prefix="twinhive-copy-") as directory:
            Job(_APPLICATION, cluster, settings.label, next_steps).run(
                Path(directory, "settings.json"),
                settings.to_json(),
                say,
                arguments=(*arguments, "--with-submitter", "--settings"),
            )

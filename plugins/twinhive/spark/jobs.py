"""Run one job of spark_jobs/ to its end: its settings are a private file, and it ends when its submitter does."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from twinhive.spark.cluster import SparkCluster
from twinhive.spark.endings import NextSteps, causes, explain, last_words
from twinhive.spark.lifeline import held
from twinhive.spark.spark_submit import Submission


@dataclass(frozen=True)
class Job:
    """One run of an application; `label` says for people what it does."""

    application: str
    cluster: SparkCluster
    label: str
    next_steps: NextSteps
    user: str | None = None
    """Who Spark's own reads and writes are done as; None: as this process."""

    def run(
        self,
        settings: Path,
        text: str,
        say: Callable[[str], None],
        confirm: Callable[[], None] = lambda: None,
        arguments: tuple[str, ...] = (),
    ) -> None:
        """Write `text` to `settings`, the last argument, and wait for the end; `say` takes what the job says.

        What `confirm` raises ends the job. Raises TryAgain when it has not come to its end, ActNow when it never would.
        """
        settings.touch(mode=0o600)
        settings.write_text(text, encoding="utf-8")
        submission = Submission(self.application, (*arguments, str(settings)), self.cluster, self.label, self.user)
        with held(settings):
            ended = submission.run(say, confirm)
        if not ended.code:
            return
        otherwise = f"exit code {ended.code}"
        if reason := causes(ended.output):
            otherwise += f": {reason}"
        raise explain(self.label, ended.code, last_words(ended.output, self.application), otherwise, self.next_steps)

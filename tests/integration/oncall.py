"""Be the person on call: follow a section of docs/runbooks.md through Airflow's REST API, and by nothing else."""

import re
from dataclasses import dataclass, field

from tests.integration.airflow_fixtures import Run, RunningAirflow, until
from tests.support.runbooks import Section, says
from twinhive.operations.operation_kinds import KINDS
from twinhive.runtime.pipeline.phases import PHASES
from twinhive.surfaces.airflow.dags.operate_dag import GIVE_UP, OPERATE

RED = ("failed", "up_for_retry")
AT_WORK = ("scheduled", "queued", "running")
_TAIL = 40


def rest(airflow: RunningAirflow, policy: str) -> None:
    """Let nothing of a policy run by itself."""
    for phase in PHASES:
        airflow.api.pause(f"{policy}.{phase}")


@dataclass
class OnCall:
    """Look after one policy, with one section of the page at hand."""

    airflow: RunningAirflow
    policy: str
    section: Section
    _earlier: set[str] = field(default_factory=set)
    _read: set[str] = field(default_factory=set)

    def follow(self) -> None:
        """Let the policy follow its source; on a small machine only while a test looks at it."""
        dag_id = f"{self.policy}.incremental"
        # A run that began before the DAG was paused would go on in the way of those to come.
        for run in self.airflow.runs(dag_id):
            self._earlier.add(run.run_id)
            self.airflow.api.mark_run_failed(dag_id, run.run_id)
        self.airflow.api.unpause(dag_id)

    def leave_out(self, run_id: str) -> None:
        """Take a run for one of earlier: whatever is red in it is nothing to act on."""
        self._earlier.add(run_id)

    def trigger(self, phase: str = "incremental", **form: object) -> Run:
        """Press 'Trigger'; a paused DAG would only queue its run."""
        self.airflow.api.unpause(f"{self.policy}.{phase}")
        return self.airflow.trigger(f"{self.policy}.{phase}", **form)

    def red_run(self, task: str, phase: str = "incremental", *, for_good: bool = False) -> Run:
        """Look at the grid until a task is red, or, unless that has to be `for_good`, waits for its next try."""
        return self._run_whose(task, ("failed",) if for_good else RED, phase)

    def run_at_work(self, task: str, phase: str = "incremental") -> Run:
        """Look at the grid until a task is at work, or about to begin; return its run."""
        return self._run_whose(task, AT_WORK, phase)

    def run_that_applied(self) -> Run:
        """Look at the grid until a run has applied a window; return the newest such run."""
        return self._run_whose("apply", ("success",), "incremental")

    def _run_whose(self, task: str, states: tuple[str, ...], phase: str) -> Run:
        def found() -> Run | None:
            runs = [run for run in self.airflow.runs(f"{self.policy}.{phase}") if run.run_id not in self._earlier]
            return next((run for run in runs if run.states().get(task, set()) & set(states)), None)

        run: Run = until(found, f"{task} of {self.policy}.{phase} is {' or '.join(states)}", every=0.2)
        return run

    def read(self, run: Run, task: str, *quoted: str) -> str:
        """Read the last lines of a log, and find there what the section quotes; `quoted` are some words of it."""
        log = run.log(task)
        self._compare("\n".join(log.splitlines()[-_TAIL:]), quoted)
        return log

    def read_of_any_try(self, run: Run, task: str, *quoted: str) -> None:
        """Read the logs of all tries: what was cleared may have been done by a try that Airflow began by itself."""
        self._compare(run.logs(task), quoted)

    def clear(self, run: Run, task: str) -> None:
        """Clear a task with all tasks after it, and wait until the run is green.

        Airflow ends a run a moment after its task is red; who clears in that moment is overtaken by the end.
        """
        if "failed" in run.states().get(task, set()):
            run.wait()
        run.clear(task)
        assert run.wait() == "success", {name: run.log(name)[-3000:] for name in run.states()}

    def operate(self, operation: str, *quoted: str, dry_run: bool = False, **fields: object) -> str:
        """Fill in the form that has the operation, wait until it is green, and read what it says."""
        form = GIVE_UP if KINDS[operation].gives_up else OPERATE
        confirmed = {"confirm": self.policy} if form == GIVE_UP and not dry_run else {}
        run = self.trigger(form, operation=operation, dry_run=dry_run, **confirmed, **fields)
        assert run.wait() == "success", run.log(form)[-3000:]
        log = run.log(form)
        self._compare(log, quoted)
        return log

    def green_run(self, phase: str = "incremental", **form: object) -> Run:
        """Trigger a run and wait until it is green."""
        run = self.trigger(phase, **form)
        assert run.wait() == "success", {name: run.log(name)[-3000:] for name in run.states()}
        return run

    def unread(self) -> list[str]:
        """Return the lines which the section quotes and nobody has met."""
        return [line for line in self.section.quoted if line not in self._read]

    def _compare(self, log: str, quoted: tuple[str, ...]) -> None:
        for words in quoted:
            line = self.section.line(words)
            assert says(log, line), f"{self.section.title} quotes {line!r}; the log says\n{log[-4000:]}"
            self._read.add(line)


def event_named(log: str) -> int:
    """Return the id of the event that an error names."""
    found = re.search(r"\bevent (\d+)", log)
    assert found, log
    return int(found[1])

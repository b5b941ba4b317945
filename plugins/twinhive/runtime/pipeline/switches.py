"""Write the failover and the failback once: each is a literal tuple of stages, one after the other.

In Airflow a stage is a task, in the order of the tuple; people approve in between. In a terminal a planned failover
takes the same steps, in the `run` of `operations/failover/failover.py`: who types the command has approved.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from twinhive.core.ports import WritePorts
from twinhive.operations.actions.pause import Unpause
from twinhive.operations.failover import switch_steps as steps
from twinhive.operations.failover.fence.fencing import FENCE
from twinhive.operations.failover.proof import PROVE_QUIET
from twinhive.operations.failover.switch_steps import PLANNED, PREPARE, VERIFY, HandedOn, Switch
from twinhive.runtime.pipeline.phase_facts import Start, started_by

FAILOVER, FAILBACK = "failover", "failback"
_EXTERNAL, _EVENTS = started_by(Start.DATA), started_by(Start.LOG)
SwitchForm = Mapping[str, Any]
"""What a run was told, by field."""


@dataclass(frozen=True)
class SwitchStep:
    """Take a step; what it returns is handed on. `ends` says whether all later stages are passed over then."""

    name: str
    step: Callable[[Switch, WritePorts], HandedOn]
    ends: Callable[[SwitchForm], bool] = lambda form: False


@dataclass(frozen=True)
class Approve:
    """Ask a person, who reads what the first stage has said. `question` has {} for the name of the policy."""

    name: str
    question: str


@dataclass(frozen=True)
class WaitUntil:
    """Look until nothing is `missing` any more, at most `within` this time; `begin` is done first."""

    name: str
    missing: Callable[[Switch, WritePorts], str | None]
    within: timedelta
    begin: Callable[[Switch, WritePorts], None] | None = None


@dataclass(frozen=True)
class StartRun:
    """Start a run of another DAG of the policy, a phase or a switch, which would wait for its clock otherwise.

    begin          is done first
    is_for_data    only policies that copy data of external tables have it
    run_id         the name of the run that is started, by the names of this switch and of this run
    conf           what that run is told
    """

    name: str
    dag: str
    begin: Callable[[Switch, WritePorts], None] | None = None
    is_for_data: bool = False
    run_id: str = "for-{switch}-{run}"
    conf: SwitchForm = field(default_factory=dict)


def _go_on(switch: Switch, ports: WritePorts) -> None:
    """Let a policy go on that is paused."""
    switch.say(Unpause(switch.policy).run(ports))


SwitchStage = SwitchStep | Approve | WaitUntil | StartRun


SWITCHES: Mapping[str, tuple[SwitchStage, ...]] = {
    FAILOVER: (
        SwitchStep(PREPARE, steps.prepare_failover, ends=lambda form: bool(form["dry_run"])),
        Approve("approve", "Let the replica of {} take over ({{{{ params.mode }}}})?"),
        SwitchStep(FENCE, lambda switch, ports: switch.say(switch.why_not(ports) or switch.failover.fence(ports))),
        StartRun("start_external", _EXTERNAL, is_for_data=True),
        WaitUntil(
            "catch_up",
            lambda switch, ports: None if switch.why_not(ports) else switch.failover.is_behind(ports),
            timedelta(hours=12),
        ),
        SwitchStep(PROVE_QUIET, steps.prove_quiet),
        SwitchStep(VERIFY, steps.prove_equal),
        SwitchStep("promote", steps.promote),
    ),
    FAILBACK: (
        SwitchStep(
            PREPARE,
            lambda switch, ports: switch.say(switch.failback.plan(ports)),
            ends=lambda form: bool(form["dry_run"]),
        ),
        Approve("approve", "Make the old primary the replica of {}?"),
        SwitchStep("prove_quiet", lambda switch, ports: switch.say(switch.failback.prove_quiet(ports))),
        SwitchStep(
            "divergence",
            lambda switch, ports: switch.say(switch.failback.followed(ports) or switch.failback.keep(ports)),
        ),
        SwitchStep("adopt", lambda switch, ports: switch.say(switch.failback.run(ports))),
        StartRun("start_incremental", _EVENTS, begin=_go_on),
        StartRun("start_external", _EXTERNAL, is_for_data=True),
        WaitUntil("follow", steps.lacks_changes, timedelta(days=7), begin=_go_on),
        SwitchStep(
            VERIFY,
            lambda switch, ports: switch.say(switch.failover.compare(ports)),
            ends=lambda form: not form["switch_back"],
        ),
        StartRun("switch_back", FAILOVER, run_id="after-failback-{run}", conf={"mode": PLANNED, "dry_run": False}),
    ),
}
"""How a replica takes over, and how the old primary becomes the replica: all that is done, in order."""

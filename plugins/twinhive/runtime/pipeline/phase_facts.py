"""Facts of the phases beside their stages: outside the pipeline nobody tells phases apart by their names."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum


class Start(Enum):
    """What starts a run of a phase in Airflow."""

    PERSON = "a person, in the trigger form"
    RUN = "a run of another phase, or of the same"
    LOG = "news in the source's log, and a clock"
    DATA = "tables that wait for their data, and a clock"
    CLOCK = "a clock"
    NIGHT = "a clock, once a night"


class RunOption(Enum):
    """What a run of some phase can be told, in the form and on the command line."""

    AGAIN = "again"
    """Build a published replica another time."""
    DEEP = "deep"
    """Compare every file, whatever is remembered."""


@dataclass(frozen=True)
class PhaseFacts:
    """What is to be known of a phase beside its stages."""

    start: Start
    option: RunOption | None = None
    copies: bool = True
    """Its runs copy files of tables, with as many threads as they are told."""


FACTS: Mapping[str, PhaseFacts] = {
    "bootstrap": PhaseFacts(Start.PERSON, RunOption.AGAIN),
    "consolidate": PhaseFacts(Start.RUN),
    "incremental": PhaseFacts(Start.LOG),
    "external": PhaseFacts(Start.DATA),
    "scan": PhaseFacts(Start.CLOCK, RunOption.DEEP, copies=False),
    "verify": PhaseFacts(Start.NIGHT, RunOption.DEEP, copies=False),
}


PLACEMENT_FACTS: Mapping[str, PhaseFacts] = {"copies": PhaseFacts(Start.LOG)}
"""Of the phases that placements have."""


def facts_of(phase: str) -> PhaseFacts:
    """Return the facts of a phase, of policies or of placements."""
    return FACTS.get(phase) or PLACEMENT_FACTS[phase]


def started_by(start: Start) -> str:
    """Return the phase that is started so."""
    return next(phase for phase, facts in FACTS.items() if facts.start is start)


def phases_with(option: RunOption) -> tuple[str, ...]:
    """Return the phases that have an option."""
    return tuple(phase for phase, facts in FACTS.items() if facts.option is option)


EVENT_LANE_PHASES = tuple(
    phase for phase, facts in FACTS.items() if facts.start in (Start.PERSON, Start.RUN, Start.LOG)
)
"""The phases that bring a replica from event to event; the others work beside them."""

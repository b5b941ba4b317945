"""Gather what the page of one policy shows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from twinhive.core.model.errors import TwinhiveError
from twinhive.core.model.table_status import TableStanding
from twinhive.core.model.watching.load_progress import LoadProgress
from twinhive.operations.journal.journal_reading import JournalReader
from twinhive.operations.journal.records import (
    IN_TROUBLE,
    BatchRun,
    Failure,
    PolicyState,
    RecordedProof,
    RecordedTable,
    WindowRun,
)
from twinhive.surfaces.page.airflow_links import MONITOR
from twinhive.surfaces.page.dag_runs import ALL, LastRun, dag_ids
from twinhive.surfaces.page.judging import Level, Verdict, lag_level, verdict_of
from twinhive.surfaces.page.notices import Notice, journal_down, monitor_notice
from twinhive.surfaces.page.overview import AirflowReader
from twinhive.surfaces.page.paging import Paging
from twinhive.surfaces.page.plot import POINTS, Plot, plot_lag
from twinhive.surfaces.page.sets_section import SetsPart, sets_part

TABLES_SIZE = 100
SPANS: Mapping[str, int] = {"1h": 3_600, "24h": 86_400, "7d": 7 * 86_400}
"""How far back the plot may look, in seconds."""

_LEFT_OUT = 20
_WINDOWS = 10


class PolicyQuery(BaseModel):
    """What the reader of the page has asked for, by the address; `dump` is the window whose batches are shown."""

    model_config = ConfigDict(frozen=True)

    span: Literal["1h", "24h", "7d"] = "24h"
    search: str = Field("", max_length=200)
    state: str = Field("", max_length=50)
    page: int = Field(1, ge=1, le=1_000_000)
    dump: str = Field("", max_length=250)


@dataclass(frozen=True)
class DagRow:
    """One of the policy's DAGs, with its last run."""

    phase: str
    dag_id: str
    paused: bool
    run: LastRun | None


@dataclass(frozen=True)
class TablesPart:
    """The tables that were asked for, and how many there are in each state."""

    rows: Sequence[RecordedTable]
    paging: Paging
    counts: Mapping[str, int]
    left_out: Sequence[RecordedTable]


@dataclass(frozen=True)
class Recorded:
    """What the journal says of the policy."""

    state: PolicyState
    verdict: Verdict
    lag_level: Level
    failures: Sequence[Failure]
    more_failures: int
    plot: Plot | None
    windows: Sequence[WindowRun]
    batches: Sequence[BatchRun]
    tables: TablesPart
    progress: LoadProgress | None
    proof: RecordedProof | None
    sets: SetsPart | None


@dataclass(frozen=True)
class PolicyPage:
    """The page; nothing recorded: only Airflow knows the policy, or the journal does not answer."""

    policy: str
    query: PolicyQuery
    dags: Sequence[DagRow]
    recorded: Recorded | None
    notice: Notice | None


def policy_page(
    reader: JournalReader, airflow: AirflowReader, policy: str, query: PolicyQuery, now: float
) -> PolicyPage:
    """Read all about one policy."""
    state = reader.policy(policy)
    notice = monitor_notice(airflow.standings([MONITOR]).get(MONITOR), state.at if state else None, now)
    recorded = _recorded(reader, state, query, now) if state else None
    return PolicyPage(policy, query, _dags(airflow, policy), recorded, notice)


def policy_page_without_journal(
    airflow: AirflowReader, policy: str, query: PolicyQuery, error: TwinhiveError
) -> PolicyPage:
    """Show what Airflow alone knows."""
    return PolicyPage(policy, query, _dags(airflow, policy), None, journal_down(error))


def _recorded(reader: JournalReader, state: PolicyState, query: PolicyQuery, now: float) -> Recorded:
    since = now - SPANS[query.span]
    failures, number = reader.failures(state.policy), reader.open_failures(state.policy)
    tables = _tables(reader, state.policy, query)
    troubled = sum(tables.counts.get(standing, 0) for standing in IN_TROUBLE)
    return Recorded(
        state=state,
        verdict=verdict_of(state, number, troubled, now),
        lag_level=lag_level(state),
        failures=failures,
        more_failures=max(0, number - len(failures)),
        plot=plot_lag(reader.lag(state.policy, since, POINTS), since, now, state.max_lag),
        windows=reader.windows(state.policy, limit=_WINDOWS),
        batches=reader.batches(state.policy, query.dump) if query.dump else (),
        tables=tables,
        progress=reader.progress([state.policy]).get(state.policy),
        proof=reader.proof(state.policy),
        sets=sets_part(reader, state),
    )


def _tables(reader: JournalReader, policy: str, query: PolicyQuery) -> TablesPart:
    def page_of(number: int) -> tuple[int, Sequence[RecordedTable]]:
        offset = (number - 1) * TABLES_SIZE
        return reader.tables(policy, query.search, query.state or None, offset=offset, limit=TABLES_SIZE)

    total, rows = page_of(query.page)
    paging = Paging.of(total, query.page, TABLES_SIZE)
    if paging.number != query.page:
        _, rows = page_of(paging.number)
    _, left_out = reader.tables(policy, "", TableStanding.LEFT_OUT, offset=0, limit=_LEFT_OUT)
    return TablesPart(rows, paging, reader.table_counts(policy), left_out)


def _dags(airflow: AirflowReader, policy: str) -> list[DagRow]:
    known, runs = airflow.standings(dag_ids([policy], ALL)), airflow.last_runs(dag_ids([policy], ALL))
    return [
        DagRow(phase, dag_id, known[dag_id].paused, runs.get(dag_id))
        for phase, dag_id in zip(ALL, dag_ids([policy], ALL), strict=True)
        if dag_id in known
    ]

"""Gather what the overview shows: all policies, the most troubled first, with the last run of each."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Protocol

from pydantic import BaseModel, ConfigDict, Field

from twinhive.core.model.errors import TwinhiveError
from twinhive.core.model.watching.load_progress import LoadProgress
from twinhive.operations.journal.journal_reading import JournalReader
from twinhive.operations.journal.records import PolicyOverview
from twinhive.surfaces.page.airflow_links import MONITOR
from twinhive.surfaces.page.dag_runs import LANE, DagStanding, LastRun, dag_ids, newest_of
from twinhive.surfaces.page.judging import Level, Verdict, is_stale, lag_level, verdict_of
from twinhive.surfaces.page.notices import Notice, journal_down, monitor_notice
from twinhive.surfaces.page.paging import Paging

PAGE_SIZE = 50


class AirflowReader(Protocol):
    """What the page asks of Airflow's database."""

    def last_runs(self, dag_ids: Collection[str]) -> dict[str, LastRun]:
        """Return the newest run of each DAG that has one."""

    def standings(self, dag_ids: Collection[str]) -> dict[str, DagStanding]:
        """Return how Airflow has those DAGs that are in its files."""


class PageQuery(BaseModel):
    """What the reader of the page has asked for, by the address."""

    model_config = ConfigDict(frozen=True)

    search: str = Field("", max_length=200)
    troubled: bool = False
    page: int = Field(1, ge=1, le=1_000_000)


@dataclass(frozen=True)
class Row:
    """One policy; without a state when only Airflow knows it."""

    policy: str
    state: PolicyOverview | None
    verdict: Verdict
    lag_level: Level
    stale: bool
    run: LastRun | None
    progress: LoadProgress | None = None


@dataclass(frozen=True)
class Counts:
    """How many policies there are, and how many of them are in trouble."""

    policies: int
    troubled: int


@dataclass(frozen=True)
class Overview:
    """The page; the counts are None when nothing is recorded. `unseen` are policies that nobody has looked at yet."""

    query: PageQuery
    rows: tuple[Row, ...]
    paging: Paging
    counts: Counts | None
    notice: Notice | None
    unseen: tuple[str, ...] = ()


def overview(
    reader: JournalReader, airflow: AirflowReader, readable: Collection[str], query: PageQuery, now: float
) -> Overview:
    """Read the overview from the journal; as long as nothing is recorded, from Airflow."""
    recorded, worst = reader.overview(limit=1, names=readable)
    monitor = airflow.standings([MONITOR]).get(MONITOR)
    if not recorded:
        return _from_airflow(airflow, readable, query, monitor_notice(monitor, None, now))
    troubled, _ = reader.overview(troubled_only=True, limit=0, names=readable)
    total, states = _page_of(reader, readable, query, query.page)
    paging = Paging.of(total, query.page, PAGE_SIZE)
    if paging.number != query.page:
        _, states = _page_of(reader, readable, query, paging.number)
    runs = airflow.last_runs(dag_ids([state.policy for state in states], LANE))
    ahead = reader.progress([state.policy for state in states])
    rows = tuple(_row(state, newest_of(state.policy, runs), ahead.get(state.policy), now) for state in states)
    looked_at = max(state.at for state in [*worst, *states])
    notice = monitor_notice(monitor, looked_at, now)
    unseen = _unseen(reader, airflow, readable, recorded) if recorded < len(readable) else ()
    return Overview(query, rows, paging, Counts(recorded, troubled), notice, unseen)


def overview_without_journal(
    airflow: AirflowReader, readable: Collection[str], query: PageQuery, error: TwinhiveError
) -> Overview:
    """Show what Airflow alone knows."""
    return _from_airflow(airflow, readable, query, journal_down(error))


def _page_of(
    reader: JournalReader, readable: Collection[str], query: PageQuery, page: int
) -> tuple[int, Sequence[PolicyOverview]]:
    return reader.overview(
        search=query.search,
        troubled_only=query.troubled,
        offset=(page - 1) * PAGE_SIZE,
        limit=PAGE_SIZE,
        names=readable,
    )


def _unseen(reader: JournalReader, airflow: AirflowReader, readable: Collection[str], recorded: int) -> tuple[str, ...]:
    _, states = reader.overview(limit=recorded, order="policy", names=readable)
    return tuple(_active(airflow, set(readable) - {state.policy for state in states}))


def _active(airflow: AirflowReader, policies: Collection[str]) -> list[str]:
    """Return those policies that still have their DAGs."""
    known = airflow.standings(dag_ids(policies, LANE[-1:]))
    return sorted(dag_id.rpartition(".")[0] for dag_id in known)


def _row(state: PolicyOverview, run: LastRun | None, progress: LoadProgress | None, now: float) -> Row:
    verdict = verdict_of(state, state.open_failures, state.tables_in_trouble, now)
    return Row(state.policy, state, verdict, lag_level(state), is_stale(state.at, now), run, progress)


def _from_airflow(
    airflow: AirflowReader, readable: Collection[str], query: PageQuery, notice: Notice | None
) -> Overview:
    found = _active(airflow, [name for name in readable if query.search.lower() in name.lower()])
    paging = Paging.of(len(found), query.page, PAGE_SIZE)
    shown = found[paging.first - 1 if found else 0 : paging.last]
    runs = airflow.last_runs(dag_ids(shown, LANE))
    quiet = Verdict(Level.QUIET, ())
    rows = tuple(Row(name, None, quiet, Level.QUIET, False, newest_of(name, runs)) for name in shown)
    return Overview(query, rows, paging, None, notice)

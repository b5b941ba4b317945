"""Serve the page 'Replication' inside Airflow's API server. Every route asks Airflow who is there; none writes."""

import time
from typing import Annotated

from fastapi import FastAPI, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response

from twinhive.core.model.errors import TwinhiveError
from twinhive.operations.journal.journal_reading import open_reader
from twinhive.surfaces.page import rendering
from twinhive.surfaces.page.airflow_access import (
    Readable,
    ReadablePlacements,
    SeesRemotes,
    configuration_directory,
    signed_in,
)
from twinhive.surfaces.page.airflow_links import PREFIX, Links
from twinhive.surfaces.page.airflow_runs import MetadataDatabase
from twinhive.surfaces.page.announcements import PublisherRow, announcements
from twinhive.surfaces.page.copies_section import copies_section
from twinhive.surfaces.page.notices import pool_notices
from twinhive.surfaces.page.overview import PageQuery, overview, overview_without_journal
from twinhive.surfaces.page.policy_page import SPANS, PolicyQuery, policy_page, policy_page_without_journal
from twinhive.surfaces.page.remotes_section import MOST_NAMES, remotes_section

app = FastAPI(title="Replication", dependencies=[signed_in], docs_url=None, redoc_url=None, openapi_url=None)

_airflow = MetadataDatabase()


@app.get("/")
def show_overview(
    request: Request,
    readable: Readable,
    placements: ReadablePlacements,
    sees_remotes: SeesRemotes,
    query: Annotated[PageQuery, Query()],
) -> Response:
    """Show all policies that the user may see, and how copies, announcements and remotes are."""
    now, copies = time.time(), None
    told: tuple[PublisherRow, ...] = ()
    try:
        found = overview(open_reader(), _airflow, readable, query, now)
        copies = copies_section(open_reader(), _airflow, placements)
        # Of clusters and not of policies: for those who may see how gateways are.
        told = announcements(open_reader(), now) if sees_remotes else ()
    except TwinhiveError as error:
        found = overview_without_journal(_airflow, readable, query, error)
    waiting = pool_notices(_airflow.pool_waits(), {*readable, *placements})
    remotes = remotes_section(configuration_directory(), now) if sees_remotes else None
    return rendering.page(
        "overview.html",
        links=_links(request),
        now=now,
        overview=found,
        waiting=waiting,
        copies=copies,
        announcements=told,
        remotes=remotes,
        most_names=MOST_NAMES,
    )


@app.get("/policies/{name}")
def show_policy(name: str, request: Request, readable: Readable, query: Annotated[PolicyQuery, Query()]) -> Response:
    """Show one policy; one that the user may not see is as unknown as one that does not exist."""
    if name not in readable:
        return _problem(request, 404, f"There is no policy {name} that you may see")
    now = time.time()
    try:
        found = policy_page(open_reader(), _airflow, name, query, now)
    except TwinhiveError as error:
        found = policy_page_without_journal(_airflow, name, query, error)
    waiting = pool_notices(_airflow.pool_waits(), [name])
    return rendering.page("policy.html", links=_links(request), now=now, policy=found, spans=SPANS, waiting=waiting)


@app.get("/static/{name}")
def show_file(name: str, request: Request) -> Response:
    """Return one of the page's own files."""
    return rendering.file(name) if name in rendering.FILES else _problem(request, 404, f"There is no file {name}")


@app.get("/{path:path}")
def show_nothing(path: str, request: Request) -> Response:
    """Say that there is nothing here, in the same look, and only to those who are signed in."""
    return _problem(request, 404, f"There is no page {path}")


@app.exception_handler(RequestValidationError)
def explain_bad_address(request: Request, error: Exception) -> Response:
    """Say which part of an address cannot be used."""
    assert isinstance(error, RequestValidationError)
    parts = [f"{problem['loc'][-1]}: {problem['msg']}, found {problem['input']!r}" for problem in error.errors()]
    return _problem(request, 400, "This address cannot be used", "; ".join(parts))


def _problem(request: Request, status: int, what: str, details: str = "") -> Response:
    return rendering.page("problem.html", status, links=_links(request), what=what, details=details)


def _links(request: Request) -> Links:
    root = str(request.scope.get("root_path", ""))
    return Links(airflow=root.removesuffix(PREFIX), page=root)

"""Gather what the section *Remotes* shows: what the gateways of `remotes.yaml` say now."""

from dataclasses import dataclass
from pathlib import Path

from twinhive.core.model.errors import InvalidSettings
from twinhive.core.model.remotes.definitions import REMOTES_FILE
from twinhive.federation.gateway.status.gateway_findings import RemoteSeen
from twinhive.federation.gateway.status.status_client import look_at
from twinhive.runtime.settings.remotes import load_remotes
from twinhive.surfaces.page.judging import Level
from twinhive.surfaces.page.notices import Notice
from twinhive.surfaces.page.readable_numbers import ago

MOST_REMOTES = 200
MOST_NAMES = 5
_SECONDS = 1.0
"""A page is not kept waiting for longer by gateways that are down."""


@dataclass(frozen=True)
class RemoteRow:
    """One remote: how bad it is, and in which words that is told."""

    remote: RemoteSeen
    level: Level
    state: str


@dataclass(frozen=True)
class RemotesSection:
    """What is shown; `more` are the remotes that the list has no room for: none of them is in trouble, or many are."""

    rows: tuple[RemoteRow, ...]
    notices: tuple[Notice, ...]
    more: int = 0


def remotes_section(directory: Path, now: float) -> RemotesSection | None:
    """Ask the gateways; None where none is configured."""
    try:
        gateways = load_remotes(directory / REMOTES_FILE).gateways
    except InvalidSettings as error:
        return RemotesSection((), (Notice(Level.BAD, f"What gateways there are is not known: {error.words.what}"),))
    if not gateways:
        return None
    seen = look_at(gateways, _SECONDS)
    away = (f"The gateway whose status port is {gateway} does not answer: {why}." for gateway, why in seen.away.items())
    rows = tuple(_row(remote, now) for remote in seen.remotes[:MOST_REMOTES])
    notices = tuple(Notice(Level.BAD, text) for text in away)
    return RemotesSection(rows, notices, len(seen.remotes) - len(rows))


def _row(remote: RemoteSeen, now: float) -> RemoteRow:
    if not remote.address:
        return RemoteRow(remote, Level.BAD, f"not reached: {remote.trouble}")
    if remote.answers is None:
        return RemoteRow(remote, Level.QUIET, "not called yet")
    if remote.answers:
        return RemoteRow(remote, Level.GOOD, "answers")
    breaker = "calls are refused at once" if remote.is_open else "calls still go there"
    level = Level.BAD if remote.is_open else Level.WARN
    return RemoteRow(remote, level, f"failed first {ago(remote.failing_since, now)}; {breaker}: {remote.trouble}")

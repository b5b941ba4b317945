"""Ask remotes whose breaker is open, so that one that is well again is known to be, though no client calls it."""

import asyncio
import logging
from itertools import chain

from twinhive.core.model.errors import TwinhiveError
from twinhive.core.model.remotes.definitions import Definition, Definitions, RemoteDatabase
from twinhive.federation.gateway.gateway_state import Shared
from twinhive.federation.gateway.isolation import RemoteBusyError, RemoteDownError
from twinhive.federation.gateway.probe import RemoteState, probe
from twinhive.federation.gateway.remote_pool import Remote

_LOG = logging.getLogger(__name__)


async def ask_again(shared: Shared) -> None:
    """Until it is cancelled: ask each of them as often as an open breaker lets a call through.

    One that nothing leads to any more, or that may not be reached any more, is forgotten.
    """
    while True:
        await asyncio.sleep(shared.remotes.limits.probe_every)
        if not (waiting := shared.remotes.open_ones()):
            continue
        try:
            defined = await shared.definitions.current()
        except TwinhiveError:
            continue
        except Exception:
            _LOG.exception("what is defined could not be read, so no remote is asked again")
            continue
        for found in await asyncio.gather(*(_ask(shared, one, defined) for one in waiting), return_exceptions=True):
            if isinstance(found, Exception):
                _LOG.error("a remote could not be asked again", exc_info=found)


async def _ask(shared: Shared, remote: Remote, defined: Definitions) -> None:
    """Ask one remote; nothing is done where a client's own call asks just now."""
    definition = _leading_to(shared, remote, defined)
    if definition is None:
        shared.remotes.forget(remote)
        return
    limits, breaker = remote.guard.limits, remote.guard.breaker
    try:
        async with remote.guard.call():
            probed = await probe(remote.reached, definition, limits.of_a_probe, None)
    except (RemoteDownError, RemoteBusyError):
        return
    if probed.state is RemoteState.AWAY:
        breaker.failed(probed.text)
    else:
        breaker.answered()
    shared.remotes.note(remote)


def _leading_to(shared: Shared, remote: Remote, defined: Definitions) -> Definition | None:
    """Return the definition that a client has asked it by, or another one that leads there, by what holds now."""
    asked, remotes = remote.asked_by, shared.remotes
    is_defined = (
        defined.databases.get(asked.local) == asked
        if isinstance(asked, RemoteDatabase)
        else defined.tables.get(asked.local) == asked
    )
    if is_defined and remotes.key_of(asked) == remote.key:
        return asked
    others = chain[Definition](defined.databases.values(), defined.tables.values())
    return next((one for one in others if remotes.key_of(one) == remote.key), None)

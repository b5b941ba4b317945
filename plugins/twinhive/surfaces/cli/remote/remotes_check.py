"""Say of each remote which replicas there are of it, and whether they equal it: `twinhive remotes check`."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from twinhive.core.model.errors import TwinhiveError
from twinhive.core.model.exit_codes import ExitCode
from twinhive.core.model.remotes.definitions import Definition
from twinhive.core.model.text import Text, render
from twinhive.replication.verify.remote_replicas import RemoteTwin, Replication, may_replicate, replications_of, twin_of
from twinhive.replication.verify.verification_outcome import Verified
from twinhive.runtime.settings import Configuration, Resolve
from twinhive.runtime.wiring.policy_wiring import Wiring
from twinhive.surfaces.cli.terminal import escape, say

_SHOWN = 5


def replications(
    configuration: Configuration, resolve: Resolve, answering: Sequence[Definition]
) -> tuple[list[Replication], list[Text]]:
    """Return the policies that may replicate one of these remotes, and what is wrong with those that cannot be asked.

    Only their sources are asked who they are: a policy of other names has nothing to do with any of them.
    """
    found: list[Replication] = []
    troubles: list[Text] = []
    for name in sorted(configuration.policies):
        try:
            wiring = Wiring.of(configuration, name, resolve)
            if not any(may_replicate(wiring.policy, one) for one in answering):
                continue
            ports = wiring.write_ports()
            found.append(Replication(wiring.policy, ports, ports.source.log_id()))
        except TwinhiveError as error:
            troubles.append(f"policy {name} was not looked at: " + error.words.what)
    return found, troubles


def twins(definition: Definition, identity: str | None, all_of: Sequence[Replication]) -> list[RemoteTwin]:
    """Compare each replica of what a remote stands for."""
    return [twin_of(definition, one) for one in replications_of(definition, identity, all_of)] if identity else []


def lines(local: str, found: Sequence[RemoteTwin]) -> Iterator[Text]:
    """Return what people are told of the twins of one remote."""
    for one in found:
        if one.verified is None or one.verified.already:
            why = one.trouble if one.verified is None else one.verified.already or ""
            yield f"{local}: twin {one.replica} (policy {one.policy}) was not compared: " + why
            continue
        since = f", first seen {_moment(one.verified.since)}" if one.verified.since is not None else ""
        yield f"{local}: twin {one.replica} (policy {one.policy}): {one.verified.headline}{since}"
        yield from _details(one.policy, one.verified)


def exit_of(found: Sequence[RemoteTwin]) -> int:
    """Return 4 for a twin that is damaged, 3 for one of which not all could be judged, else 0."""
    if any(one.is_damaged for one in found):
        return ExitCode.ACT_NOW
    return ExitCode.DONE if all(one.is_equal or one.is_left_out for one in found) else ExitCode.TRY_AGAIN


def fields(one: RemoteTwin) -> dict[str, Any]:
    """Return a twin as it is printed as JSON."""
    verified = None if one.verified is None else asdict(one.verified)
    return {
        "policy": one.policy,
        "replica": one.replica,
        "equal": one.is_equal,
        "trouble": render(one.trouble) or None,
        "verified": verified,
    }


def say_lines(some: Sequence[Text]) -> None:
    """Print lines as they are."""
    say(*(escape(render(one)) for one in some))


def _details(policy: str, found: Verified) -> Iterator[Text]:
    differences = (*found.findings, *found.suspects)
    yield from (f"  {one}" for one in differences[:_SHOWN])
    if found.found + found.suspected > _SHOWN:
        yield f"  and {found.found + found.suspected - _SHOWN} more"
    yield from (f"  not judged: {name}: {why}" for name, why in list(found.not_judged.items())[:_SHOWN])
    if found.found:
        yield "  next: " + found.way_to_mend(policy)
    elif found.suspected and found.look_again_at is not None:
        yield f"  next: run it again in {max(0.0, found.look_again_at - time.time()):.0f} s"


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")

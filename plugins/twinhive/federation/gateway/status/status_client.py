"""Ask gateways how they are: all at once, each within one deadline, and never more than an answer may be."""

import asyncio
import json
import os
from collections.abc import Sequence
from http import HTTPStatus

from twinhive.federation.gateway.gateway_metrics import CallCounts
from twinhive.federation.gateway.status.gateway_findings import GatewaysSeen, remotes_of

SECONDS = 2.0
"""A gateway that has not given its whole answer by then is away."""
_MOST_BYTES = 16 << 20
_QUESTION = b"GET /remotes HTTP/1.0\r\n\r\n"


def look_at(gateways: Sequence[str], seconds: float = SECONDS) -> GatewaysSeen:
    """Ask the status ports `host:port`. Raises nothing of theirs: what does not answer is said to be away."""
    return asyncio.run(_look_at(gateways, seconds))


async def _look_at(gateways: Sequence[str], seconds: float) -> GatewaysSeen:
    answers = await asyncio.gather(*(_ask(one, seconds) for one in gateways))
    away = {one: said for one, said in zip(gateways, answers, strict=True) if isinstance(said, str)}
    counts = CallCounts.added_up(said.to_json() for said in answers if isinstance(said, CallCounts))
    return GatewaysSeen(remotes_of(counts), away, len(gateways))


async def _ask(gateway: str, seconds: float) -> CallCounts | str:
    """Return what a gateway has counted, or why that is not known."""
    host, _, port = gateway.rpartition(":")
    try:
        async with asyncio.timeout(seconds):
            answer = await _answer_of(host.strip("[]"), int(port))
    except TimeoutError:
        return f"no answer within {seconds:g} s"
    except OSError as error:
        # What asyncio says of a refused connection is an address, and not the reason.
        return os.strerror(error.errno or 0) if (error.errno or 0) > 0 else str(error) or type(error).__name__
    head, _, body = answer.partition(b"\r\n\r\n")
    try:
        if len(answer) > _MOST_BYTES or head.split()[1] != str(HTTPStatus.OK.value).encode():
            raise ValueError
        return CallCounts.added_up([json.loads(body)])
    except (ValueError, KeyError, IndexError, TypeError, RecursionError):
        return "what answers there is not the status port of a gateway"


async def _answer_of(host: str, port: int) -> bytes:
    reader, writer = await asyncio.open_connection(host, port)
    try:
        writer.write(_QUESTION)
        await writer.drain()
        answer = bytearray()
        while len(answer) <= _MOST_BYTES and (piece := await reader.read(1 << 16)):
            answer += piece
        return bytes(answer)
    finally:
        writer.close()

"""What real clients and a real metastore have said to each other passes byte for byte where nothing is renamed.

`python -m tests.support.wire.record_conversations` records them again.
"""

import json
import socket
from base64 import b64decode
from collections import deque
from pathlib import Path
from typing import Any

import pytest

from tests.support.servers.running_gateway import RunningGateway
from tests.support.wire.scripted_metastore import AnsweringMetastore, whole_message
from twinhive.core.model.names import TableName
from twinhive.core.model.remotes.definitions import Definitions, RemoteDatabase, RemoteTable
from twinhive.hive.wire.old_clients import OLD_METHODS
from twinhive.hive.wire.old_filters import with_sql_wildcards
from twinhive.hive.wire.thrift_message import WireMessage, message_of

FOLDER = Path(__file__).parents[3] / "fixtures" / "conversations"
CLIENTS = sorted(path.stem for path in FOLDER.glob("*.json"))
Pair = tuple[bytes, bytes]
_OTHERS = Definitions(
    {TableName("shop", "parts"): RemoteTable(TableName("shop", "parts"), TableName("conversation", "parts"))},
    {"conversations": RemoteDatabase("conversations", "conversation")},
)
"""Remotes of which nothing is asked; their names begin alike."""


def test_there_are_those_of_each_kind_of_client() -> None:
    assert CLIENTS == ["pyiceberg", "spark-2.3.10", "spark-4.1.0"]


@pytest.fixture(params=CLIENTS)
def said(request: pytest.FixtureRequest) -> dict[str, list[list[Pair]]]:
    read: dict[str, Any] = json.loads((FOLDER / f"{request.param}.json").read_text())
    return {
        side: [[(b64decode(asked), b64decode(answered)) for asked, answered in one] for one in connections]
        for side, connections in read.items()
    }


def test_a_call_and_its_answer_are_the_same_on_both_sides(said: dict[str, list[list[Pair]]]) -> None:
    """Only calls that Hive 4.1 has removed, and filters as Hive 2 wrote them, are others at the metastore."""
    client = [pair for one in said["client"] for pair in one if _is_handed_on(message_of(pair[0]))]
    metastore = [pair for one in said["metastore"] for pair in one]
    assert [pair for pair in client if pair not in metastore] == []
    assert len(client) > 3


def _is_handed_on(asked: WireMessage) -> bool:
    return asked.head.method not in OLD_METHODS and with_sql_wildcards(asked).raw == asked.raw


def test_they_pass_byte_for_byte(said: dict[str, list[list[Pair]]]) -> None:
    expected: deque[Pair] = deque()
    wrong: list[Any] = []

    def answer(request: WireMessage) -> bytes:
        asked, answered = expected.popleft()
        if request.raw != asked:
            wrong.append((asked, request.raw))
        return answered

    metastore = AnsweringMetastore(answer)
    gateway = RunningGateway(metastore.port, _OTHERS)
    try:
        for ours, theirs in zip(said["client"], said["metastore"], strict=True):
            expected.extend(theirs)
            with socket.create_connection(("127.0.0.1", gateway.port)) as client:
                client.settimeout(20)
                for asked, answered in ours:
                    client.sendall(asked)
                    read = whole_message(client)
                    assert read is not None
                    assert read[0].raw == answered, message_of(asked).head.method
            assert (wrong, list(expected)) == ([], [])
    finally:
        gateway.stop()
        metastore.close()

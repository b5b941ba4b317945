"""Calls about remotes with bytes changed at random: whatever reaches the local metastore names no remote.

What it names is read with the bindings, as the server would. `TWINHIVE_WIRE_MUTATIONS` makes so many of them.
"""

import os
import socket
from collections.abc import Iterator
from contextlib import closing, suppress
from random import Random
from typing import Any

import pytest

from tests.support.seeds import seeds
from tests.support.wire.wire_messages import KNOWN, decoded, struct_class
from tests.unit.federation.gateway.test_each_method import PLACES, READS, Call, World, places_of
from tests.unit.hive.wire.test_bad_bytes import mutated
from twinhive.core.model.names import TableName
from twinhive.federation.gateway.method_kinds import KIND_OF, MethodKind
from twinhive.hive.wire.name_forms import DatabaseText, key_of, split_full_name
from twinhive.hive.wire.roles import Role, decided
from twinhive.hive.wire.thrift_message import WireMessage, call, reply

MUTATED = int(os.environ.get("TWINHIVE_WIRE_MUTATIONS", "400"))
FAR, BOUGHT = TableName("far", "t"), TableName("shop", "bought")


def named_in(struct: Any) -> Iterator[tuple[str, str | None]]:
    """Yield databases, and tables with theirs, of Hive's own catalog, as far as one struct says both."""
    spec = [one[2] for one in filter(None, type(struct).thrift_spec)]
    roles = {name: decided(type(struct).__name__, name) for name in spec}
    texts = {
        role: [text for name in spec if roles[name] is role for text in _texts(getattr(struct, name))] for role in Role
    }
    for text in texts[Role.DATABASE]:
        form = DatabaseText.parse(text)
        if (form.catalog or "".join(texts[Role.CATALOG][:1]) or "hive").lower() == "hive":
            yield form.key or "", None
            tables = texts[Role.TABLE] if len(texts[Role.DATABASE]) == 1 else []
            yield from ((form.key or "", key_of(table)) for table in tables)
    split = filter(None, map(split_full_name, texts[Role.FULL_NAME]))
    yield from ((key_of(one[1]), key_of(one[2])) for one in split)
    for value in (getattr(struct, name) for name in spec):
        for one in value if isinstance(value, list) else [value]:
            if hasattr(one, "thrift_spec"):
                yield from named_in(one)


def _texts(value: Any) -> list[str]:
    return [one for one in (value if isinstance(value, list) else [value]) if isinstance(one, str)]


def test_no_mutated_call_brings_a_remotes_name_to_the_local_metastore(monkeypatch: pytest.MonkeyPatch) -> None:
    world, reached = World(), list[WireMessage]()

    def answer(message: WireMessage) -> bytes:
        reached.append(message)
        return reply(message.head.method, message.head.sequence).raw

    monkeypatch.setattr(world.here, "_answer", answer)
    places = [*PLACES, *places_of(READS)]
    by_name = 0
    try:
        for seed in seeds(MUTATED, kind=43):
            random = Random(seed)
            method, path, _ = random.choice(places)
            raw = mutated(random, Call(method, path, random.choice((FAR, BOUGHT))).message.raw)
            reached.clear()
            at = ("127.0.0.1", world.gateway.port)
            with closing(socket.create_connection(at, timeout=20)) as client, suppress(ConnectionError):
                client.sendall(raw)
                client.shutdown(socket.SHUT_WR)
                while client.recv(1 << 16):
                    pass
            for one in reached:
                if KIND_OF.get(one.head.method) in (MethodKind.READ, MethodKind.WRITE) and one.head.method in KNOWN:
                    by_name += 1
                    named = set(named_in(decoded(struct_class(one), one.body)))
                    assert ("far" not in {name for name, _ in named}) and ("shop", "bought") not in named, (
                        f"TWINHIVE_SEED={seed}: {one.raw.hex()}"
                    )
        assert world.answers(call("get_all_databases", 1)) is None, "it has gone on"
    finally:
        world.gateway.stop()
        world.here.close()
        world.there.close()
    assert by_name, "nothing has reached it: that proves nothing"

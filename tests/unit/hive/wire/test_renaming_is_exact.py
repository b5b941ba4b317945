"""Renaming bytes comes to what decoding, renaming and encoding comes to, for random messages however they arrive."""

import os
from random import Random

import pytest

from tests.support.seeds import seeds
from tests.support.wire.wire_messages import decoded, random_message, renamed_objects, struct_class
from twinhive.hive.wire import message_renaming, scanning
from twinhive.hive.wire.decoding import groups_in
from twinhive.hive.wire.message_renaming import NAMES, renamed, struct_of
from twinhive.hive.wire.method_table import NO_FIELDS
from twinhive.hive.wire.renamed_chunks import RenamedPieces
from twinhive.hive.wire.renames import Renames
from twinhive.hive.wire.scanning import StructScan
from twinhive.hive.wire.thrift_message import WireError, WireMessage
from twinhive.hive.wire.thrift_skip import end_of
from twinhive.hive.wire.walking import found_in

MESSAGES = int(os.environ.get("TWINHIVE_WIRE_MESSAGES", "1500"))
RENAMES = [
    Renames({"shop": "flights_west"}),
    Renames({"shop": "east", "east": "shop"}),
    Renames({"east": "a"}, {("shop", "orders"): ("store", "bestellungen")}),
    Renames({}, {("shop", "orders"): ("shop", "planes"), ("east", "planes"): ("east", "o")}),
]


def expected(message: WireMessage, renames: Renames):
    """Return the objects with other names, None where tables of one database would get several."""
    try:
        return renamed_objects(decoded(struct_class(message), message.body), renames)
    except ValueError:
        return None


def random_messages():
    for seed in seeds(MESSAGES, kind=31):
        random = Random(seed)
        yield seed, random, random_message(random), random.choice(RENAMES)


@pytest.mark.thorough
@pytest.mark.parametrize("small", [0, 1 << 30], ids=["by counting", "by walking"])
def test_random_messages_are_renamed_as_objects_are(small: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(message_renaming, "_SMALL", small)
    for seed, _, message, renames in random_messages():
        wanted = expected(message, renames)
        if wanted is None:
            with pytest.raises(WireError):
                renamed(message, renames)
            continue
        sent = renamed(message, renames)
        assert end_of(sent.raw, sent.at) == len(sent.raw), seed
        assert decoded(struct_class(message), sent.body) == wanted, seed


def cuts(random: Random, raw: bytes) -> list[bytes]:
    """Cut bytes as a network may."""
    size = max(random.choice((1, 7, 100, 1 << 14)), len(raw) // 500)
    return [raw[at : at + size] for at in range(0, len(raw), size)]


@pytest.mark.thorough
def test_it_does_not_matter_how_the_bytes_arrive(monkeypatch: pytest.MonkeyPatch) -> None:
    for seed, random, message, _ in random_messages():
        monkeypatch.setattr(scanning, "_LARGE", random.choice((0, 50, 1 << 14)))
        scan, behind = StructScan(NO_FIELDS, frozenset(), 1 << 20), b"what comes next"
        chunks = cuts(random, message.body + behind)
        ended = [scan.feed(chunk) for chunk in chunks if not scan.ended]
        assert ended.index(True) == len(ended) - 1, seed
        assert scan.window + b"".join(chunks[len(ended) :]) == behind, seed


@pytest.mark.thorough
def test_pieces_come_to_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    for seed, random, message, renames in random_messages():
        monkeypatch.setattr(scanning, "_LARGE", random.choice((0, 0, 50)))
        pieces = RenamedPieces(struct_of(message), renames, 1 << 20)
        if expected(message, renames) is None:
            continue
        sent = b""
        for chunk in cuts(random, message.body):
            assert not pieces.ended, seed
            pieces.feed(chunk)
            sent += pieces.taken()
        assert pieces.ended, seed
        assert sent == renamed(message, renames).body, seed


@pytest.mark.thorough
def test_names_are_the_same_counted_and_walked() -> None:
    for seed, _, message, _ in random_messages():
        walked = found_in(message.raw, message.at, struct_of(message), NAMES)
        counted = groups_in(message.raw, message.at, struct_of(message), NAMES)
        assert counted is not None
        said = {(one.field.number, one.text, one.database, one.catalog, one.tables) for one in walked}
        grouped = [one for found, _ in counted for one in found if one.field.role in NAMES]
        assert {(one.field.number, one.text, one.database, one.catalog, one.tables) for one in grouped} == said, seed

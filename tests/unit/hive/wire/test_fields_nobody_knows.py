"""Bytes with fields that no bindings know, in any order: only names become others, every other byte stays."""

from collections.abc import Iterator
from random import Random

import pytest

from tests.support.seeds import seeds
from tests.support.wire.wire_trees import Box, Branch, Leaf, Tree, encoded_tree, leaves_of, random_tree
from tests.unit.hive.wire.test_renaming_is_exact import MESSAGES, RENAMES
from twinhive.hive.wire import message_renaming, scanning
from twinhive.hive.wire.field_roles import FoundText, relate
from twinhive.hive.wire.message_renaming import renamed, struct_of
from twinhive.hive.wire.method_table import METHODS
from twinhive.hive.wire.renamed_chunks import RenamedPieces
from twinhive.hive.wire.renames import Renames
from twinhive.hive.wire.thrift_message import Head, MessageKind, WireError, WireMessage, message_with

ALL = sorted(METHODS)


def random_trees() -> Iterator[tuple[int, Random, Head, Branch, Renames]]:
    for seed in seeds(MESSAGES, kind=33):
        random = Random(seed)
        method = METHODS[random.choice(ALL)]
        kind = random.choice((MessageKind.CALL, MessageKind.REPLY))
        tree = random_tree(random, method.asked if kind is MessageKind.CALL else method.returned)
        yield seed, random, Head(kind, method.name, 1), tree, random.choice(RENAMES)


def rename_tree(tree: Tree, renames: Renames) -> None:
    """Change the names in place, struct by struct."""
    match tree:
        case Box(items=items):
            for one in items:
                rename_tree(one, renames)
        case Branch(fields):
            leaves = [leaf for _, one in fields for leaf in leaves_of(one)]
            found = [FoundText(leaf.field, 0, leaf.value) for leaf in leaves]
            relate(found)
            for leaf, one in zip(leaves, found, strict=True):
                new = renames.change(one)
                leaf.value = leaf.value if new is None else new
            for _, one in fields:
                rename_tree(one, renames)
        case Leaf():
            return


def sent(message: WireMessage, renames: Renames) -> bytes | None:
    try:
        return renamed(message, renames).body
    except WireError:
        return None


@pytest.mark.parametrize("small", [0, 1 << 30], ids=["by counting", "by walking"])
def test_only_names_become_others(small: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(message_renaming, "_SMALL", small)
    changed = 0
    for seed, _, head, tree, renames in random_trees():
        body = encoded_tree(tree)
        got = sent(message_with(head, body), renames)
        try:
            rename_tree(tree, renames)
        except WireError:
            assert got is None, seed
            continue
        assert got == encoded_tree(tree), seed
        changed += got != body
    assert changed > MESSAGES / 20


def test_texts_inside_of_what_should_be_texts_are_no_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scanning, "_LARGE", 0)
    name = b"\0\0\0\4shop"
    body = b"\x0f\0\0" + b"\x0f\0\0\0\1" + b"\x0b\0\0\0\2" + name * 2 + b"\0"
    message = message_with(Head(MessageKind.REPLY, "get_all_databases", 1), body)
    pieces = RenamedPieces(struct_of(message), Renames({"shop": "w"}), 1 << 20)
    got = b"".join([pieces.feed(body[at : at + 1]) * b"" + pieces.taken() for at in range(len(body))])
    assert pieces.ended
    assert got == body == renamed(message, Renames({"shop": "w"})).body


def test_in_pieces_they_become_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    for seed, random, head, tree, renames in random_trees():
        message = message_with(head, encoded_tree(tree))
        if (whole := sent(message, renames)) is None:
            continue
        monkeypatch.setattr(scanning, "_LARGE", random.choice((0, 0, 50)))
        pieces, size = RenamedPieces(struct_of(message), renames, 1 << 20), max(1, len(message.body) // 300)
        got = b""
        for at in range(0, len(message.body), size):
            pieces.feed(message.body[at : at + size])
            got += pieces.taken()
        assert got == whole, seed

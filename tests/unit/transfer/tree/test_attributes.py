"""Each letter carries one thing over, and costs a call only where that differs."""

from dataclasses import replace
from typing import Any

import pytest

from tests.unit.transfer.tree.trees import SOURCE, TARGET, Trees
from twinhive.core.model.files import Attributes, FileStatus
from twinhive.transfer.engine.attributes import AttributeCopier, Newborn

ACL = ("user:ann:rw-", "group::r--", "mask::rw-")
ORIGINAL: dict[str, Any] = {
    "owner": "ann",
    "group": "staff",
    "permission": 0o640,
    "replication": 3,
    "modified_ms": 1_500_000_000_000,
    "accessed_ms": 1_500_000_001_000,
}


@pytest.fixture
def trees() -> Trees:
    """A file and a directory with attributes of their own, nothing at the target."""
    trees = Trees(d__f=b"content")
    trees.put("d/g", b"other", block_size=1024, checksum_type="CRC32/512")
    for relative in ("", "/d", "/d/f"):
        trees.source.set_attributes(SOURCE + relative, Attributes(**ORIGINAL, acl=ACL, extended={"user.k": b"v"}))
    return trees


def seen(trees: Trees, relative: str) -> dict[str, Any]:
    """Return what the target's path carries."""
    node = trees.target._node(TARGET + relative)
    plain = {name: getattr(node.status, name) for name in ORIGINAL}
    return {**plain, "acl": node.acl, "extended": node.attributes}


@pytest.mark.parametrize(
    ("letters", "carried"),
    [
        ("u", {"owner"}),
        ("g", {"group"}),
        ("p", {"permission"}),
        ("r", {"replication"}),
        ("t", {"modified_ms", "accessed_ms"}),
        ("a", {"acl", "permission"}),
        ("x", {"extended"}),
        ("", set()),
        ("rugpaxt", {*ORIGINAL, "acl", "extended"}),
    ],
)
def test_a_letter_carries_its_attribute_and_nothing_else(trees: Trees, letters: str, carried: set[str]) -> None:
    trees.sync(preserve=letters)

    wanted = {**ORIGINAL, "acl": ACL, "extended": {"user.k": b"v"}}
    assert {name for name, value in seen(trees, "/d/f").items() if value == wanted[name]} == carried


@pytest.mark.parametrize("relative", ["", "/d"])
def test_directories_carry_them_too_the_top_level_included(trees: Trees, relative: str) -> None:
    trees.sync(preserve="ugpaxt")
    expected = {**ORIGINAL, "acl": ACL, "extended": {"user.k": b"v"}}
    # Directories have no replicas, and their access times mean nothing.
    for name in ("replication", "accessed_ms"):
        del expected[name]
    assert expected.items() <= seen(trees, relative).items()


def test_block_size_and_checksum_type_are_told_when_a_file_is_created(trees: Trees) -> None:
    trees.sync(preserve="bc")
    node = trees.target._node(f"{TARGET}/d/g")
    assert (node.status.block_size, node.checksum_type) == (1024, "CRC32/512")
    assert trees.target.calls["set_attributes"] == 0


def test_permission_and_replication_of_a_file_cost_no_call(trees: Trees) -> None:
    trees.sync(preserve="rp")
    files = [call for call in ("create_from", "checksum") for _ in range(trees.target.calls[call])]
    assert len(files) == 4
    assert trees.target.calls["set_attributes"] == 2, "the two directories"


def test_an_owner_that_new_files_have_anyway_costs_no_call() -> None:
    trees = Trees(f=b"1")
    trees.sync(preserve="ug")
    assert trees.target.calls["set_attributes"] == 0


def test_what_is_equal_costs_no_call(trees: Trees) -> None:
    trees.sync(preserve="rbugpcaxt")
    trees.target.calls.clear()

    outcome = trees.sync(preserve="rbugpcaxt")

    assert trees.target.calls["set_attributes"] == 0
    assert outcome.copied.files == 0


def test_what_differs_is_set_without_copying(trees: Trees) -> None:
    trees.sync(preserve="ugpt")
    trees.source.set_attributes(f"{SOURCE}/d/f", Attributes(group="other"))
    trees.source.set_attributes(f"{SOURCE}/d", Attributes(permission=0o700))

    outcome = trees.sync(preserve="ugpt")

    assert seen(trees, "/d/f")["group"] == "other"
    assert seen(trees, "/d")["permission"] == 0o700
    assert (outcome.copied.files, outcome.attributes.files, outcome.attributes.directories) == (0, 1, 1)


def test_an_acl_that_the_source_does_not_have_any_more_is_taken_away(trees: Trees) -> None:
    trees.sync(preserve="a")
    trees.source.set_attributes(f"{SOURCE}/d/f", Attributes(acl=()))
    trees.sync(preserve="a")
    assert seen(trees, "/d/f")["acl"] == ()


def test_an_acl_that_is_inherited_at_the_target_is_not_left() -> None:
    trees = Trees(f=b"1")
    trees.target.set_attributes("hdfs://west/copies", Attributes(acl=("default:user:bob:rwx",)))
    trees.sync(preserve="a")
    assert seen(trees, "/f")["acl"] == ()


def test_an_access_time_alone_is_not_carried_because_reading_changes_it(trees: Trees) -> None:
    trees.sync(preserve="t")
    trees.source.set_attributes(f"{SOURCE}/d/f", Attributes(accessed_ms=1_600_000_000_000))
    trees.target.calls.clear()
    trees.sync(preserve="t")
    assert trees.target.calls["set_attributes"] == 0


def test_a_directory_keeps_its_time_when_files_in_it_are_replaced(trees: Trees) -> None:
    trees.sync(preserve="t")
    trees.source._node(f"{SOURCE}/d/f").content = b"newer!!"
    trees.source.set_attributes(f"{SOURCE}/d/f", Attributes(modified_ms=1_600_000_000_000))

    trees.sync(preserve="t")

    assert trees.at_target()["d/f"] == b"newer!!"
    assert seen(trees, "/d")["modified_ms"] == ORIGINAL["modified_ms"]
    assert seen(trees, "")["modified_ms"] == ORIGINAL["modified_ms"]


def test_a_file_has_its_attributes_before_it_has_its_name(trees: Trees) -> None:
    trees.put_there("d/f", b"old")
    order: list[str] = []

    class Watched:
        def __getattr__(self, name: str) -> Any:
            value = getattr(trees.target, name)
            if name not in ("set_attributes", "replace"):
                return value
            return lambda *given, **named: (order.append(name), value(*given, **named))[1]

    trees.sync(preserve="u", target=Watched())
    assert order[:2] == ["set_attributes", "replace"]


def test_new_files_are_compared_with_what_a_new_file_has(trees: Trees) -> None:
    original = replace(FileStatus(f"{SOURCE}/d/f", 7, 5), owner="me", group="us")
    path = f"{TARGET}/made"
    trees.target.put(path)
    copier = AttributeCopier(trees.source, trees.target, frozenset("ug"), Newborn("me", "them"))
    copier.give_new(original, path)
    status = trees.target.status(path)
    assert status is not None
    assert (status.owner, status.group) == ("hive", "us")

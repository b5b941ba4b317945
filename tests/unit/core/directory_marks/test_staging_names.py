"""What an earlier version's staging is known by is complete: all that the code writes below staging is in the list."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.package_texts import MODULES, PLUGINS
from tests.support.parsed_modules import nodes_of, tree_of
from tests.unit.operations.failover.test_fence import Fenced
from tests.unit.publishing.set_visibility.test_shown_sets import Producer
from twinhive.core.directory_marks.directories import ATTRIBUTE
from twinhive.core.directory_marks.staging import is_named_as_in_staging, own_staging
from twinhive.core.model.failover.fence import QUOTA

ANOTHER_STAGING = "statements/execution/table_file_copies.py"
"""What it calls staging is a directory for the files of one table."""


class Module:
    """The places below staging that one module names, as far as its text says them."""

    def __init__(self, path: Path) -> None:
        self.nodes = nodes_of(path)
        self.texts = {
            target.id: node.value.value
            for node in tree_of(path).body
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        self.directories: dict[str, tuple[str, ...]] = {}
        for node in self.nodes:
            if isinstance(node, ast.FunctionDef):
                ends = [one.value for one in node.body if isinstance(one, ast.Return)]
                if len(ends) == 1 and (place := self.place(ends[0])):
                    self.directories[node.name] = place

    def place(self, node: ast.expr | None) -> tuple[str, ...]:
        """Return the names below staging that an expression says, as many as are plain; none for another place."""
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            return ()
        if node.func.id != "join" or not node.args:
            return self.directories.get(node.func.id, ())
        first, *rest = node.args
        is_staging = "staging" in (getattr(first, "attr", ""), getattr(first, "id", ""))
        above = () if is_staging else self.place(first)
        return (*above, *self.plain(rest)) if is_staging or above else ()

    def plain(self, given: list[ast.expr]) -> Iterator[str]:
        for one in given:
            text = one.value if isinstance(one, ast.Constant) else self.texts.get(getattr(one, "id", ""))
            if not isinstance(text, str):
                return
            yield text

    def places(self) -> set[tuple[str, ...]]:
        return {place for node in self.nodes if isinstance(node, ast.Call) and (place := self.place(node))}


NAMED = {
    (str(path.relative_to(PLUGINS)), place)
    for path in MODULES
    if not str(path).endswith(ANOTHER_STAGING)
    for place in Module(path).places()
}


def test_all_that_the_code_names_below_staging_is_known() -> None:
    assert [one for one in sorted(NAMED) if not is_named_as_in_staging(*one[1][:2])] == []


def test_the_names_are_found_in_the_code() -> None:
    found = {place for _, place in NAMED}
    assert found >= {("fence",), ("lease",), ("control", "fence.json"), ("control", "diverged.json")}
    assert found >= {("control", "everything.json"), ("sets", "held.json"), ("sets", "looked.json"), ("sets", "run")}
    assert found >= {("external", "returned"), ("external", "returned_places.json"), ("external", "waits.json.gz")}
    assert len({place[0] for place in found}) >= 13


def test_staging_that_nobody_has_claimed_stays_ours_whatever_is_written_into_it() -> None:
    producer = Producer()
    producer.frozen("plain")
    producer.mark("p=a b")
    producer.mark("*", "plain")
    producer.follow()
    fenced = Fenced(QUOTA)
    fenced.failover().fence(fenced.world.ports())
    for one, name in ((producer, "sets/held.json"), (fenced, "control/fence.json")):
        files, staging = one.world.replica_files, one.policy.staging
        assert files.status(f"{staging}/{name}") is not None
        files.put(f"{staging}/lease/lease-0000000007")
        files._nodes[staging].attributes.pop(ATTRIBUTE)
        assert own_staging(files, one.policy) is not None


@pytest.mark.parametrize("name", ["sets/theirs.json", "fence/theirs", "control/theirs.json", "external/theirs"])
def test_a_name_that_is_not_ours_is_no_proof(name: str) -> None:
    producer = Producer()
    files, staging = producer.world.replica_files, producer.policy.staging
    files._nodes[staging].attributes.pop(ATTRIBUTE)
    files.put(f"{staging}/lease/lease-0000000007")
    assert own_staging(files, producer.policy) is not None
    files.put(f"{staging}/{name}", b"theirs")
    assert own_staging(files, producer.policy) is None

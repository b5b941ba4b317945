"""Each error says what was found, what was expected and what to do next: at night all three are asked for."""

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path

import twinhive
from tests.support.parsed_modules import nodes_of
from twinhive.core.model.errors import TwinhiveError

TOP = Path(twinhive.__file__).parent
PARTS = {"found", "expected", "next_step"}
OTHERWISE = {
    "runtime/dry_run/pretended_files.py": "answers a plan as a file system would",
    "runtime/dry_run/pretended_metastore.py": "answers a plan as a metastore would",
    "surfaces/airflow/dags/monitor_dag.py": "shows what other errors have said, with all their parts",
}


def _trees() -> dict[str, tuple[ast.AST, ...]]:
    paths = sorted(TOP.rglob("*.py"))
    return {str(path.relative_to(TOP)): nodes_of(path) for path in paths}


def _kinds(trees: Iterable[Iterable[ast.AST]]) -> set[str]:
    """Return the names of all errors of ours, wherever they are defined."""
    bases = {
        node.name: {base.id for base in node.bases if isinstance(base, ast.Name)}
        for tree in trees
        for node in tree
        if isinstance(node, ast.ClassDef)
    }
    found: set[str] = set()
    more = {TwinhiveError.__name__}
    while more:
        found |= more
        more = {name for name, above in bases.items() if above & found} - found
    return found


def _made(nodes: Iterable[ast.AST], kinds: set[str]) -> Iterator[ast.Call]:
    """Yield where errors are made: by name, or through a variable, whose call says some of the parts."""
    for node in nodes:
        if not isinstance(node, ast.Call):
            continue
        by_name = isinstance(node.func, ast.Name) and node.func.id in kinds
        is_variable = isinstance(node.func, ast.Name) and node.func.id == "kind"
        is_variable |= isinstance(node.func, ast.Attribute) and node.func.attr == "error"
        if by_name or (is_variable and PARTS & {one.arg for one in node.keywords}):
            yield node


def _lacking(call: ast.Call) -> set[str]:
    given = {one.arg for one in call.keywords}
    return set() if None in given else PARTS - given


def test_each_error_has_all_parts() -> None:
    trees, made, lacking = _trees(), 0, []
    kinds = _kinds(trees.values())
    assert {"Refused", "GivenUp", "LostFile"} <= kinds
    for where, tree in trees.items():
        calls = list(_made(tree, kinds))
        made += len(calls)
        if where not in OTHERWISE:
            found = ((one.lineno, sorted(_lacking(one))) for one in calls)
            lacking += [f"{where}:{line}: no {', '.join(parts)}" for line, parts in found if parts]
    assert lacking == []
    assert made > 300, "the test does not find them any more"


def test_who_need_not_say_all_still_lacks_some() -> None:
    trees = _trees()
    kinds = _kinds(trees.values())
    for where in OTHERWISE:
        assert any(map(_lacking, _made(trees[where], kinds))), f"{where} says all parts now: it is no exception"

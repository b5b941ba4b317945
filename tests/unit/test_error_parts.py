"""Each error says what was found, what was expected and what to do next: at night all three are asked for."""

import ast
from collections.abc import Iterator
from pathlib import Path

import twinhive
from twinhive.model import errors

TOP = Path(twinhive.__file__).parent
PARTS = {"found", "expected", "next_step"}
OTHERWISE = {
    "dry_run/pretended_files.py": "answers a plan as a file system would",
    "dry_run/pretended_metastore.py": "answers a plan as a metastore would",
    "airflow_edge/dags/monitor_dag.py": "shows what other errors have said, with all their parts",
}
_KINDS = {
    name for name, kind in vars(errors).items() if isinstance(kind, type) and issubclass(kind, errors.TwinhiveError)
}


def _made(tree: ast.AST) -> Iterator[ast.Call]:
    """Yield where errors are made; one that is made of several passes on what these have said."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _KINDS:
            yield node


def _lacking(call: ast.Call) -> set[str]:
    given = {one.arg for one in call.keywords}
    return set() if None in given else PARTS - given


def test_each_error_has_all_parts() -> None:
    made, lacking = 0, []
    for path in sorted(TOP.rglob("*.py")):
        where = str(path.relative_to(TOP))
        calls = list(_made(ast.parse(path.read_text(encoding="utf-8"))))
        made += len(calls)
        if where not in OTHERWISE:
            found = ((one.lineno, sorted(_lacking(one))) for one in calls)
            lacking += [f"{where}:{line}: no {', '.join(parts)}" for line, parts in found if parts]
    assert lacking == []
    assert made > 300, "the test does not find them any more"


def test_who_need_not_say_all_still_lacks_some() -> None:
    for where in OTHERWISE:
        calls = list(_made(ast.parse((TOP / where).read_text(encoding="utf-8"))))
        assert any(_lacking(one) for one in calls), f"{where} says all parts now: it is no exception any more"

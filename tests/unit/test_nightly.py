"""A test that only runs at night names tests of each run that hold the same promise; and what `make nightly` prints."""

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.nightly import PARTS, summary

TESTS = Path(__file__).parents[1]


def marks() -> Iterator[tuple[str, list[ast.expr]]]:
    """Yield where each mark stands, and what it is given."""
    texts = {path: path.read_text(encoding="utf-8") for path in sorted(TESTS.rglob("test_*.py"))}
    for path, text in texts.items():
        for node in ast.walk(ast.parse(text)) if "mark.nightly(" in text else ():
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "pytest.mark.nightly":
                yield f"{path.relative_to(TESTS)}:{node.lineno}", node.args


def is_there(named: str) -> bool:
    """Tell whether a file of tests, or a function in it, is there and runs each time."""
    file, _, function = named.partition("::")
    path = TESTS.parent / file
    if not path.is_file():
        return False
    functions = {
        node.name: [ast.unparse(one) for one in node.decorator_list]
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef)
    }
    if not function:
        return bool(functions)
    return function in functions and not any("nightly" in one for one in functions[function])


def test_each_names_tests_that_run_each_time() -> None:
    found = list(marks())
    assert len(found) > 10
    for where, arguments in found:
        named = [ast.literal_eval(argument) for argument in arguments]
        assert named and all(map(is_there, named)), where


def test_what_a_part_said_is_its_sums() -> None:
    assert (
        summary(["...", "= 3 passed, 1 failed in 2 s =", "seconds per group: unit 1", ""])
        == "3 passed, 1 failed in 2 s"
    )
    assert summary(["seed 1: well", "total: 60 histories", ""]) == "total: 60 histories"
    assert summary(["a | b", ""]) == "a / b"
    assert summary([]) == ""


def test_each_part_has_something_to_say() -> None:
    assert all(part.what and part.arguments[0] == "-m" for part in PARTS.values())

"""Only the pipeline tells phases and stages apart by their names: elsewhere a fact of theirs is asked for."""

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path

from tests.support.package_texts import MODULES
from tests.support.parsed_modules import nodes_of
from twinhive.runtime.pipeline.phases import HAND_OVERS, PHASES, PLACEMENT_PHASES

_PHASES = {**PHASES, **PLACEMENT_PHASES}
_NAMES = {
    *_PHASES,
    *(stage.name for stages in _PHASES.values() for stage in stages),
    *(hand_over.name for some in HAND_OVERS.values() for hand_over in some),
}


def _compared(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Yield the names that something is compared with, is looked for among, or is matched against."""
    for node in nodes:
        if isinstance(node, ast.Compare):
            sides: list[ast.AST] = [node.left, *node.comparators]
        elif isinstance(node, ast.MatchValue):
            sides = [node.value]
        elif isinstance(node, ast.Dict):
            sides = [key for key in node.keys if key is not None] if _all_are_names(node) else []
        else:
            continue
        for side in sides:
            among = side.elts if isinstance(side, ast.Tuple | ast.List | ast.Set) else [side]
            yield from (str(one.value) for one in among if isinstance(one, ast.Constant) and one.value in _NAMES)


def _all_are_names(node: ast.Dict) -> bool:
    keys = [key.value for key in node.keys if isinstance(key, ast.Constant)]
    return len(keys) > 1 and set(keys) <= _NAMES


def test_nobody_else_compares_with_the_name_of_a_phase_or_a_stage() -> None:
    found = {
        str(path): names
        for path in MODULES
        if "pipeline" not in Path(path).parts
        if (names := sorted(set(_compared(nodes_of(path)))))
    }
    assert found == {}


def test_a_name_that_is_compared_is_found() -> None:
    assert [*_compared(ast.walk(ast.parse("if stage == 'window': pass")))] == ["window"]
    assert [*_compared(ast.walk(ast.parse("if stage in ('load', 'else'): pass")))] == ["load"]
    assert [*_compared(ast.walk(ast.parse("{'bootstrap': one, 'scan': two}")))] == ["bootstrap", "scan"]


def _told_to_run(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Yield the phases that people are told to start: by a command, by a DAG, by a rehearsal."""
    for node in nodes:
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            continue
        said = [one.value if isinstance(one, ast.Constant) else None for one in node.args]
        match node.func.id, said:
            case "command", ["twinhive", "run", _, str(phase), *_]:
                yield phase
            case "StartDag" | "rehearse", [str(phase), *_]:
                yield phase


def test_whoever_is_told_to_start_a_phase_is_told_one_that_exists() -> None:
    told = {phase for path in MODULES for phase in _told_to_run(nodes_of(path))}
    assert {"bootstrap", "incremental", "scan"} <= told <= {*_PHASES, "failback", "failover"}

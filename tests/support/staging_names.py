"""What the code writes below a policy's staging, as far as its text says the names."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.support.package_texts import MODULES
from tests.support.parsed_modules import nodes_of, tree_of

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


@cache
def names_in_staging() -> frozenset[str]:
    """Return what may lie in a policy's staging, by name."""
    modules = (Module(path) for path in MODULES if not str(path).endswith(ANOTHER_STAGING))
    return frozenset(place[0] for module in modules for place in module.places())

"""Parse each module once for all tests that look into source. Who changes a tree parses one of their own."""

import ast
from functools import cache
from pathlib import Path


@cache
def tree_of(path: Path) -> ast.Module:
    """Return a module's syntax tree, shared by all tests: it is not to be changed."""
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def nodes_of(path: Path) -> tuple[ast.AST, ...]:
    """Return all nodes of a module's syntax tree, in the order of `ast.walk`."""
    return tuple(ast.walk(tree_of(path)))

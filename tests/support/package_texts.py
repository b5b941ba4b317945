"""Read what the package says out of its source: all texts, put together as far as they are written together."""

import ast
import inspect
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from twinhive.core.model import next_steps
from twinhive.core.model.text import (
    Again,
    Clear,
    Command,
    Either,
    Exclude,
    Phrase,
    Reader,
    ResyncTable,
    Retry,
    Setting,
    StartDag,
    render,
    text_of,
)

PLUGINS = Path(__file__).parents[2] / "plugins"
# Its words are those of the steps that it renders, which are looked at where they are taken.
MODULES = sorted({*PLUGINS.rglob("*.py")} - {PLUGINS / "twinhive" / "core" / "model" / "text.py"})
# Stands for whatever is put in when the text is made: a policy, a table, an id.
FILLED_IN = "1"

KINDS = (Clear, Again, Retry, StartDag, ResyncTable, Exclude, Setting, Command, Either)
WAYS = {name: way for name, way in vars(next_steps).items() if inspect.isfunction(way)}
WAYS |= {kind.__name__: kind for kind in KINDS}
PHRASES = {name: way for name, way in vars(next_steps).items() if name[0].isupper() and isinstance(way, Phrase)}


@cache
def texts(path: Path) -> tuple[str, ...]:
    """Return all texts of a module but docstrings, as policies' tasks say them, with what is filled in replaced."""
    return tuple(texts_of(ast.parse(path.read_text(encoding="utf-8"))))


def texts_of(tree: ast.Module, *, for_statements: bool = False) -> Iterator[str]:
    """Yield the texts of a syntax tree, in one of the two wordings."""
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    said = _Said(Reader.STATEMENTS if for_statements else Reader.POLICIES)
    tree = said.visit(tree)
    parts = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    left_out = docstrings | parts
    for node in ast.walk(tree):
        if _is_text(node) and id(node) not in left_out:
            yield _text(node)


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def _text(node: ast.AST) -> str:
    if isinstance(node, ast.JoinedStr):
        return "".join(map(_text, node.values))
    return str(node.value) if isinstance(node, ast.Constant) and isinstance(node.value, str) else FILLED_IN


class _Said(ast.NodeTransformer):
    """Put in the one wording of every text that has two, and put sums of texts together."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    def visit_Name(self, node: ast.Name) -> ast.AST:
        phrase = PHRASES.get(node.id) if isinstance(node.ctx, ast.Load) else None
        return node if phrase is None else ast.Constant(render(text_of(phrase), self._reader))

    def visit_Call(self, node: ast.Call) -> ast.AST:
        called = ast.unparse(node.func)
        if called not in WAYS:
            return self.generic_visit(node)
        way = WAYS[called](*(self._given(argument) for argument in node.args))
        return ast.Constant(render(text_of(way), self._reader))

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        sides = (node.left, node.right)
        if not isinstance(node.op, ast.Add) or not any(map(_is_text, sides)):
            return node
        return ast.Constant("".join(map(_text, sides)))

    def _given(self, argument: ast.expr) -> object:
        """Return what a way out is called with: a text, a phrase, which has both wordings still, or some of them."""
        if isinstance(argument, ast.Name) and argument.id in PHRASES:
            return PHRASES[argument.id]
        if isinstance(argument, ast.Tuple):
            return tuple(map(self._given, argument.elts))
        return _text(self.visit(argument))

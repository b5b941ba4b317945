"""No two modules, public classes, or names of types, of the package are the same: a name means one thing."""

import ast
from collections import Counter
from collections.abc import Iterator

from tests.support.package_texts import MODULES
from tests.support.parsed_modules import tree_of


def _types_of(module: ast.Module) -> Iterator[str]:
    """Yield the public classes of a module, and what it calls types: `Values = tuple[str, ...]`."""
    for node in module.body:
        match node:
            case ast.ClassDef(name=name):
                yield name
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if not _is_type_variable(value):
                if name[0].isupper() and not name.isupper():
                    yield name


def _is_type_variable(value: ast.expr) -> bool:
    return isinstance(value, ast.Call) and ast.unparse(value.func) in ("TypeVar", "ParamSpec")


def test_each_type_has_a_name_of_its_own() -> None:
    trees = (tree_of(path) for path in MODULES)
    names = Counter(name for tree in trees for name in _types_of(tree) if not name.startswith("_"))
    assert sorted(name for name, count in names.items() if count > 1) == []


def test_each_module_has_a_name_of_its_own() -> None:
    names = Counter(path.stem for path in MODULES)
    assert sorted(name for name, count in names.items() if count > 1 and not name.startswith("__")) == []


def test_what_counts_as_a_type() -> None:
    text = "class One: pass\nTwo = tuple[str, ...]\nT = TypeVar('T')\nThree = TypeVar('Three')\nFOUR = 4\nfive = One\n"
    assert list(_types_of(ast.parse(text))) == ["One", "Two"]

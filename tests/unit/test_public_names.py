"""What users import has a module of its own beside the areas, and the documents name no other."""

import ast
import re
from importlib import import_module
from pathlib import Path

import pytest

import twinhive
from tests.unit.test_layers import CHECKOUT, PUBLIC

PACKAGE = Path(twinhive.__file__).parent
PAGES = [CHECKOUT / "README.md", *sorted((CHECKOUT / "docs").glob("*.md"))]
_IMPORT = re.compile(r"^(?:from|import) twinhive[\w. ,]*(?: import .*)?$", re.MULTILINE)


@pytest.mark.parametrize("name", PUBLIC)
def test_a_public_module_says_what_it_is_and_only_names_things_of_the_areas(name: str) -> None:
    tree = ast.parse((PACKAGE / f"{name}.py").read_text(encoding="utf-8"))
    assert ast.get_docstring(tree)
    imports = [node for node in tree.body[1:-1] if isinstance(node, ast.ImportFrom)]
    assert imports == tree.body[1:-1]
    imported = sorted(alias.name for node in imports for alias in node.names)
    assert sorted(import_module(f"twinhive.{name}").__all__) == imported


def imported_names(text: str) -> list[tuple[str, str]]:
    """Return module and name of each import of the package in a text."""
    nodes = [node for line in _IMPORT.findall(text) for node in ast.parse(line).body]
    return [
        (node.module or "", alias.name) for node in nodes if isinstance(node, ast.ImportFrom) for alias in node.names
    ] + [(alias.name, "") for node in nodes if isinstance(node, ast.Import) for alias in node.names]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_imports_public_names_alone(page: Path) -> None:
    for module, name in imported_names(page.read_text(encoding="utf-8")):
        if module == "twinhive":
            assert name in PUBLIC
        else:
            assert module.removeprefix("twinhive.") in PUBLIC
            assert name in import_module(module).__all__


def test_imports_of_other_modules_are_found() -> None:
    text = (
        "from twinhive import assets\nfrom twinhive.core.model.names import TableName\nimport twinhive.runtime.spark\n"
    )
    assert imported_names(text) == [
        ("twinhive", "assets"),
        ("twinhive.core.model.names", "TableName"),
        ("twinhive.runtime.spark", ""),
    ]


def test_the_documents_import_something_of_each_public_module() -> None:
    named = {name for page in PAGES for name in imported_names(page.read_text(encoding="utf-8"))}
    modules = {name if module == "twinhive" else module.removeprefix("twinhive.") for module, name in named}
    assert modules == set(PUBLIC)

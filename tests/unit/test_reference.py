"""What the code says of itself in the documentation is as the code says it now."""

import ast
import re
from dataclasses import fields
from pathlib import Path

import pytest
from pydantic import BaseModel

from tests.support.parsed_modules import nodes_of, tree_of
from twinhive.runtime.settings.allowed_values import allowed, kind_of
from twinhive.runtime.settings.clusters import ClustersFile
from twinhive.runtime.settings.policies import PolicySettings
from twinhive.surfaces.reference import pages
from twinhive.surfaces.reference.variables import BY_OTHERS, VARIABLES

CHECKOUT = Path(__file__).parents[2]
PAGES = sorted((CHECKOUT / "docs").glob("*.md"))
COMMAND = "python -m twinhive.surfaces.reference docs"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_says_what_the_code_says(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert pages.current(text) == text, f"{page.name} is not current: run {COMMAND}"


@pytest.mark.parametrize("name", sorted(pages.PICTURES))
def test_a_picture_shows_what_the_code_says(name: str) -> None:
    drawn = (CHECKOUT / "docs" / "images" / name).read_text(encoding="utf-8")
    assert pages.PICTURES[name]() == drawn, f"{name} is not current: run {COMMAND}"
    assert any(f"images/{name}" in page.read_text(encoding="utf-8") for page in PAGES)


def test_every_part_is_in_one_page() -> None:
    written = [part for page in PAGES for part in pages.parts_of(page.read_text(encoding="utf-8"))]
    assert sorted(written) == sorted(pages.PARTS)


def test_a_page_that_is_not_current_is_written(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- reference: exit codes -->\nold\n<!-- end of reference -->\nafter\n")
    assert pages.write(tmp_path) == [page]
    assert "| 4 | a person must act first" in page.read_text()
    assert page.read_text().startswith("before\n") and page.read_text().endswith("\nafter\n")
    assert pages.write(tmp_path) == []


def models(model: type[BaseModel]) -> list[type[BaseModel]]:
    """Return a model and all below it."""
    inner = [field.annotation for field in model.model_fields.values()]
    found = [one for one in inner if isinstance(one, type) and issubclass(one, BaseModel)]
    return [model, *(below for one in found for below in models(one))]


CLUSTER = ClustersFile.model_fields["clusters"].annotation.__args__[1]


@pytest.mark.parametrize("model", [*models(PolicySettings), *models(CLUSTER), ClustersFile], ids=lambda m: m.__name__)
def test_every_key_has_a_meaning_and_a_kind(model: type[BaseModel]) -> None:
    for name, field in model.model_fields.items():
        assert field.description, f"{model.__name__}.{name} has no docstring"
        assert allowed(kind_of(field))


def variables_read(path: Path) -> set[str]:
    """Return the names in capitals that a module looks up in an environment."""
    tree = tree_of(path)
    constants = {
        node.targets[0].id: node.value.value
        for node in tree.body
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and isinstance(node.value, ast.Constant)
    }
    found = set()
    for node in nodes_of(path):
        match node:
            case ast.Call(func=ast.Attribute(attr="get", value=where), args=[name, *_]):
                pass
            case ast.Subscript(value=where, slice=name, ctx=ast.Load()):
                pass
            case ast.Compare(left=name, comparators=[where]):
                pass
            case _:
                continue
        if ast.unparse(where) in ("os.environ", "environment", "environ"):
            value = constants.get(name.id) if isinstance(name, ast.Name) else getattr(name, "value", None)
            if isinstance(value, str) and re.fullmatch(r"[A-Z_]{4,}", value):
                found.add(value)
    return found


def test_every_variable_that_is_read_is_explained_and_no_other() -> None:
    read = {name for path in (CHECKOUT / "plugins").rglob("*.py") for name in variables_read(path)}
    # Looked at to size tables, as every program on a terminal does.
    assert read - {"COLUMNS"} == {one.name for one in VARIABLES} - BY_OTHERS


def test_defaults_are_said_once_for_people_and_once_for_the_steps() -> None:
    """The values of the domain have defaults of their own, for tests and tools; they are those of the files."""
    from twinhive.core.model.external.modes import External
    from twinhive.core.model.policy import Options
    from twinhive.runtime.settings.options import OptionsSettings
    from twinhive.runtime.settings.policies import ExternalSettings

    assert OptionsSettings().tuning == Options()
    assert ExternalSettings().external() == External()
    assert OptionsSettings.model_fields.keys() == {field.name for field in fields(Options)}

"""The grammar is a file beside the modules; whatever is no module has to be named for an installation to have it."""

import tomllib
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[4]
PACKAGE = CHECKOUT / "plugins" / "twinhive"
NAMED = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["tool"]["setuptools"]["package-data"]
FILES = sorted(
    path for path in PACKAGE.rglob("*") if path.is_file() and path.suffix != ".py" and "__pycache__" not in path.parts
)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_file_that_is_no_module_is_installed(path: Path) -> None:
    places = {PACKAGE.parent.joinpath(*name.split(".")): patterns for name, patterns in NAMED.items()}
    found = {one for directory, patterns in places.items() for pattern in patterns for one in directory.glob(pattern)}
    assert path in found


def test_the_grammar_is_one_of_them() -> None:
    assert PACKAGE / "statements" / "language" / "grammar.lark" in FILES

"""The parts of the package, what each holds, and what it may import, as pyproject.toml says."""

import tomllib
from pathlib import Path

import twinhive

CHECKOUT = Path(twinhive.__file__).parents[2]


def layers_table() -> str:
    """Return a table of the parts in their order, each after those that it imports."""
    text = (CHECKOUT / "pyproject.toml").read_text(encoding="utf-8")
    layers = tomllib.loads(text)["tool"]["twinhive"]["layers"]
    rows = [f"| `{part}/` | {row['holds']} | {_imports(row['imports'])} |" for part, row in layers.items()]
    return "\n".join(["| folder | holds | imports |", "|---|---|---|", *rows])


def _imports(names: str) -> str:
    return ", ".join(names.split()) or "the standard library alone"

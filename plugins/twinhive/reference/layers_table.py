"""The parts of the package, what each holds, and what it may import, as pyproject.toml says."""

import tomllib
from pathlib import Path

import twinhive

CHECKOUT = Path(twinhive.__file__).parents[2]


def layers() -> dict[str, dict[str, str]]:
    """Return the parts in their order, each after those that it imports: what it holds, and its imports."""
    text = (CHECKOUT / "pyproject.toml").read_text(encoding="utf-8")
    found: dict[str, dict[str, str]] = tomllib.loads(text)["tool"]["twinhive"]["layers"]
    return found


def layers_table() -> str:
    """Return them as a table."""
    rows = [f"| `{part}/` | {row['holds']} | {_imports(row['imports'])} |" for part, row in layers().items()]
    return "\n".join(["| folder | holds | imports |", "|---|---|---|", *rows])


def _imports(names: str) -> str:
    return ", ".join(names.split()) or "the standard library alone"

"""The areas of the package and their folders, what each holds, and what it imports, as pyproject.toml says."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import twinhive

CHECKOUT = Path(twinhive.__file__).parents[2]


@dataclass(frozen=True)
class LayerRow:
    """What an area or a folder holds, and what it imports; of an area also its folders, by their names."""

    holds: str
    imports: tuple[str, ...]
    folders: Mapping[str, "LayerRow"]


def areas() -> dict[str, LayerRow]:
    """Return the areas in their order, each after those that it imports, as its folders are."""
    text = (CHECKOUT / "pyproject.toml").read_text(encoding="utf-8")
    return {name: _row(row) for name, row in tomllib.loads(text)["tool"]["twinhive"]["layers"].items()}


def _row(row: Mapping[str, object]) -> LayerRow:
    folders = row.get("folders", {})
    assert isinstance(folders, dict)
    inner = {name: _row(folder) for name, folder in folders.items()}
    return LayerRow(str(row["holds"]), tuple(str(row["imports"]).split()), inner)


def areas_table() -> str:
    """Return the areas as a table."""
    rows = [f"| `{name}/` | {row.holds} | {', '.join(row.imports) or 'no other'} |" for name, row in areas().items()]
    return "\n".join(["| area | holds | imports |", "|---|---|---|", *rows])


def layers_table() -> str:
    """Return a table of the folders of each area."""
    return "\n\n".join(_folders_table(name, row) for name, row in areas().items())


def _folders_table(area: str, row: LayerRow) -> str:
    rows = [f"| `{_path(area, name)}` | {one.holds} | {_imports(one.imports)} |" for name, one in row.folders.items()]
    return "\n".join([f"### {area}", "", "| folder | holds | imports |", "|---|---|---|", *rows])


def _path(area: str, name: str) -> str:
    """Return the path of a folder, or of a module that is a row of its own."""
    path = f"{area}/{name}"
    return f"{path}/" if (CHECKOUT / "plugins" / "twinhive" / path).is_dir() else f"{path}.py"


def _imports(names: tuple[str, ...]) -> str:
    """Name what a folder imports, area by area, then other packages: `core: model, ports; thrift`."""
    ours: dict[str, list[str]] = {}
    for area, _, folder in (name.partition("/") for name in names if "/" in name):
        ours.setdefault(area, []).append(folder)
    foreign = [name for name in names if "/" not in name]
    parts = [*(f"{area}: {', '.join(folders)}" for area, folders in ours.items()), *foreign]
    return "; ".join(parts) or "the standard library alone"

"""Put what is generated into the pages: between marks, beside what people have written."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path

from twinhive.surfaces.reference.command_tables import commands_section, exit_codes_table
from twinhive.surfaces.reference.hive_key_tables import hive_keys_table, refused_hive_keys_table
from twinhive.surfaces.reference.layers_picture import layers_picture
from twinhive.surfaces.reference.layers_table import areas_table, layers_table
from twinhive.surfaces.reference.settings_tables import (
    airflow_table,
    alert_kinds_table,
    clusters_table,
    external_table,
    failover_table,
    options_table,
    placements_table,
    policies_table,
    remotes_table,
    tasks_table,
    watching_table,
)
from twinhive.surfaces.reference.variables import variables_table

PARTS: Mapping[str, Callable[[], str]] = {
    "clusters": clusters_table,
    "remotes": remotes_table,
    "policies": policies_table,
    "placements": placements_table,
    "options": options_table,
    "airflow": airflow_table,
    "tasks": tasks_table,
    "external": external_table,
    "failover": failover_table,
    "watching": watching_table,
    "alert kinds": alert_kinds_table,
    "hive keys": hive_keys_table,
    "refused hive keys": refused_hive_keys_table,
    "variables": variables_table,
    "commands": commands_section,
    "exit codes": exit_codes_table,
    "areas": areas_table,
    "layers": layers_table,
}
PICTURES: Mapping[str, Callable[[], str]] = {"layers.svg": layers_picture}
"""Pictures of `images/`, by their names."""
_PART = re.compile(r"(<!-- reference: ([a-z ]+) -->\n).*?(<!-- end of reference -->)", re.DOTALL)


def current(text: str) -> str:
    """Return a page with its generated parts as they have to be. Raises KeyError for a part that nobody generates."""
    return _PART.sub(lambda match: f"{match[1]}{PARTS[match[2]]()}\n{match[3]}", text)


def parts_of(text: str) -> list[str]:
    """Name the generated parts of a page."""
    return [match[2] for match in _PART.finditer(text)]


def write(directory: Path) -> list[Path]:
    """Bring all pages of a directory, and its pictures, up to date; return those that were not."""
    changed = []
    for path in sorted(directory.glob("*.md")):
        text = path.read_text(encoding="utf-8")
        if (now := current(text)) != text:
            path.write_text(now, encoding="utf-8")
            changed.append(path)
    for name, draw in PICTURES.items():
        path = directory / "images" / name
        drawn = draw()
        if path.parent.is_dir() and (not path.exists() or path.read_text(encoding="utf-8") != drawn):
            path.write_text(drawn, encoding="utf-8")
            changed.append(path)
    return changed

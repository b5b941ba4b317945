"""docker-compose.yml as Compose reads it, with the values of .env.example."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import yaml

CHECKOUT = Path(__file__).resolve().parents[2]
_VARIABLE = re.compile(r"\$(?:\$|\{(?P<name>\w+)(?::\?[^}]*)?\})")
PROJECT = "/opt/twinhive"
"""Where the image keeps what is copied from the checkout."""


@cache
def example_variables() -> dict[str, str]:
    """Return what .env.example sets."""
    return read_variables(CHECKOUT / ".env.example")


def read_variables(path: Path) -> dict[str, str]:
    """Read a file of `NAME=value` lines; a value between single quotes is taken as it is."""
    lines = [line for line in path.read_text().splitlines() if line and not line.startswith("#")]
    return {name: value.strip("'") for name, value in (line.split("=", 1) for line in lines)}


@cache
def raw_compose() -> dict[str, Any]:
    """Return the file with its anchors resolved, its variables not."""
    document: dict[str, Any] = yaml.safe_load((CHECKOUT / "docker-compose.yml").read_text())
    return document


def named_variables() -> set[str]:
    """Return the variables that the file asks for."""
    return {match["name"] for text in _texts(raw_compose()) for match in _VARIABLE.finditer(text) if match["name"]}


@cache
def services() -> dict[str, Any]:
    """Return the services with their variables filled in."""
    filled: dict[str, Any] = _filled(raw_compose()["services"])
    return filled


def environment(service: str) -> dict[str, str]:
    """Return the environment of a service's containers."""
    found = services()[service]
    files = [found["env_file"]] if "env_file" in found else []
    lent = {key: value for file in files for key, value in read_variables(CHECKOUT / file).items()}
    return {**lent, **found.get("environment", {})}


def airflow_services() -> list[str]:
    """Return the services that run a part of Airflow."""
    return [name for name in services() if name.startswith("airflow-")]


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)


def _filled(value: Any) -> Any:
    if isinstance(value, str):
        return _VARIABLE.sub(lambda match: example_variables().get(match["name"], "") if match["name"] else "$", value)
    if isinstance(value, dict):
        return {key: _filled(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_filled(item) for item in value]
    return value

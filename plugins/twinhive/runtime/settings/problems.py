"""What is wrong with a file of the configuration: each problem with its key, what was found, what is expected."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from twinhive.runtime.settings.allowed_values import allowed, kind_at

_SECRETIVE = {"hadoop", "spark_conf", "hive_conf", "executor_config"}


def explain(path: Path, error: Exception, model: type[BaseModel]) -> str:
    """Return all that is wrong with a file that could not be read, is no YAML, or breaks rules of the model."""
    if isinstance(error, ValidationError):
        return numbered(path, [_problem(problem, model) for problem in _innermost(error.errors())])
    if isinstance(error, FileNotFoundError):
        return numbered(path, ["the file does not exist"])
    return numbered(path, [f"not readable YAML: {' '.join(str(error).split())}"])


def numbered(path: Path, lines: Sequence[str]) -> str:
    """Return the problems of one file, one a line."""
    text = "\n".join(f"  {number}. {line}" for number, line in enumerate(lines, start=1))
    return f"{path.name} cannot be used:\n{text}"


def _innermost(problems: Sequence[Any]) -> list[Any]:
    """Return the problems without those that only follow from one further inside: a list of which nothing is left."""
    places = [problem["loc"] for problem in problems]
    return [
        problem
        for problem, place in zip(problems, places, strict=True)
        if not any(other[: len(place)] == place and len(other) > len(place) for other in places)
    ]


def _problem(problem: Any, model: type[BaseModel]) -> str:
    location = problem["loc"]
    key = ".".join(str(part) for part in location) or "(whole file)"
    if problem["type"] == "extra_forbidden":
        beside, _ = kind_at(model, location[:-1])
        return f"{key}: unknown key, expected one of {', '.join(sorted(beside.model_fields))}"
    expected = allowed(kind_at(model, location)).replace("`", "")
    if problem["type"] == "missing":
        return f"{key}: missing, expected {expected}"
    if problem["type"] == "value_error":
        # A rule of our own says more than the kind of the value.
        expected += f" ({problem['ctx']['error']})"
    return f"{key}: found {_shown(location, problem['input'])}, expected {expected}"


def _shown(location: Sequence[Any], value: Any) -> str:
    """Return a wrong value as an error may show it: what holds, or may hold, properties is only counted.

    Errors stand in the documentation of DAGs, which more people read than the files, and properties hold passwords.
    """
    if isinstance(value, dict):
        return f"{len(value)} keys"
    if not _SECRETIVE.isdisjoint(location):
        return f"a {type(value).__name__}"
    return repr(value)

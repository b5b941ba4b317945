"""Settings of a Spark job as text: written and read by the same version only."""

import json
from collections.abc import Callable
from typing import Any, TypeVar

from twinhive import __version__
from twinhive.core.model.errors import InvalidSettings
from twinhive.core.model.exit_codes import Unusable

T = TypeVar("T")


def settings_text(**fields: Any) -> str:
    """Return the settings of a job as the text that `parsed` reads; it may hold secrets. A set becomes a list."""
    return json.dumps({"version": __version__, **fields}, default=sorted)


def parsed(text: str, read: Callable[[dict[str, Any]], T]) -> T:
    """Return settings by their fields. Raises Unusable, also for those of a submitter of another version."""
    try:
        fields = json.loads(text)
        if (version := fields.pop("version")) == __version__:
            return read(fields)
    except (ValueError, TypeError, KeyError, AttributeError, InvalidSettings) as error:
        raise Unusable(f"the settings cannot be used: {type(error).__name__}: {error}") from error
    raise Unusable(f"the submitter is twinhive {version}, this job {__version__}")

"""Print for scripts: one JSON document on standard output, for results and errors alike."""

import dataclasses
import enum
import json
import sys
from collections.abc import Iterable, Mapping
from typing import Any

from twinhive.core.model.errors import TryAgain, TwinhiveError
from twinhive.core.model.exit_codes import ExitCode
from twinhive.core.model.printable import printable_json
from twinhive.core.model.text import Phrase, render, text_of
from twinhive.surfaces.cli.exits import exit_of


def print_json(document: Any) -> None:
    """Print one document. Nothing else of a command goes to standard output then."""
    sys.stdout.write(printable_json(json.dumps(plain(document), ensure_ascii=False, indent=1)) + "\n")


def plain(value: Any) -> Any:
    """Return a value as JSON can hold it: an object for a dataclass, a text for what has no form of its own."""
    if isinstance(value, TwinhiveError):
        return error_fields(value)
    if isinstance(value, Phrase):
        return render(text_of(value))
    if isinstance(value, enum.Enum):
        return value.value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(plain(key)): plain(one) for key, one in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, str | bytes):
        return [plain(one) for one in value]
    return value if isinstance(value, str | int | float | bool | None) else str(value)


def error_fields(error: TwinhiveError) -> dict[str, Any]:
    """Return what an error says, as the fields of an object."""
    words = error.in_a_terminal().words
    return {
        "family": "try_again" if isinstance(error, TryAgain) else "act_now",
        "kind": type(error).__name__,
        "what": words.what,
        "found": words.found,
        "expected": words.expected,
        "next": words.next_step,
        "commands": list(words.commands),
    }


def error_document(error: TwinhiveError) -> dict[str, Any]:
    """Return the document of a command that has failed."""
    return {"error": error_fields(error), "exit_code": exit_of(error)}


def usage_error(error: Any) -> dict[str, Any]:
    """Return the document of a command that was typed wrong."""
    context = getattr(error, "ctx", None)
    fields = {
        "family": "usage",
        "kind": type(error).__name__,
        "what": error.format_message(),
        "found": None,
        "expected": None,
        "next": f"{context.command_path if context else 'twinhive'} --help",
        "commands": [f"{context.command_path if context else 'twinhive'} --help"],
    }
    return {"error": fields, "exit_code": ExitCode.USAGE}

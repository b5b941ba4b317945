"""Which data of external tables is brought otherwise than before: a policy's `data` or `stay` has changed."""

import json
from collections.abc import Callable
from dataclasses import replace

from twinhive.core.model.external.modes import External
from twinhive.core.model.files import short_hash
from twinhive.core.model.scopes.scope_texts import is_too_long

_TOO_LONG = "* "
"""Before the hash of rules that no parameter can hold: all that is known of them is that they were others."""


def rules_mark(external: External) -> str:
    """Return what the replica's database remembers of how data is brought, beside the base directory."""
    text = json.dumps({"data": external.data, "stay": external.stay})
    return _TOO_LONG + short_hash(text, 32) if is_too_long(text) else text


def brought_otherwise(external: External, mark: str) -> Callable[[str], bool]:
    """Return what says of a source location whether its data is brought otherwise than by the rules of a mark."""
    if mark.startswith(_TOO_LONG):
        return lambda location: True
    try:
        said = json.loads(mark)
        before = replace(external, data=said["data"], stay=tuple(map(str, said["stay"])))
    except (ValueError, KeyError, TypeError):
        return lambda location: True  # nobody knows what they were

    def is_otherwise(location: str) -> bool:
        if before.stays(location) != external.stays(location):
            return True
        return external.is_copied(location) and not before.is_copied(location)

    return is_otherwise

"""Read options of the form KEY=VALUE."""

import re

from twinhive.core.model.errors import InvalidSettings

_PROPERTY = re.compile(r"([^=\s]+)=(.*)", re.DOTALL)


def pair(text: str) -> tuple[str, str]:
    """Read KEY=VALUE. Raises InvalidSettings."""
    match = _PROPERTY.fullmatch(text)
    if match is None:
        raise InvalidSettings(
            f"{text!r} is not a property",
            found="no = after a name" if text else "nothing",
            expected="KEY=VALUE",
            next_step="correct it; --help explains the options",
        )
    return match[1], match[2]

"""Find the command in a sentence that says what to do next, so that it can be copied by itself."""

import re

_COMMAND = re.compile(r"(?:^|with:? |: )(twinhive [a-z-]+[^;,)\n]*)|(airflow [a-z]+ [^;,)\n]*)")


def command_in(next_step: str | None) -> str | None:
    """Return the first command that a sentence names."""
    match = _COMMAND.search(next_step or "")
    return (match[1] or match[2]).strip() if match else None

"""Take paths that come from outside, from a metastore, an event or a dump: none of them leads out of its directory.

Hadoop's client collapses `.`, `..` and `//` in a path; HDFS itself has no names like these. So a text that holds
them is another place than it looks, and nobody writes it by accident.
"""

import re

from twinhive.core.model.errors import ActNow
from twinhive.core.model.files import is_below, join
from twinhive.core.model.text import Text

_COLLAPSED = re.compile(r"(?:^|/)\.{1,2}(?:/|\Z)|\x00")
"""A component `.` or `..`, or NUL."""
_ODD = re.compile(r"(?:^|/)\.{0,2}(?:/|\Z)|\x00")
"""Such a component, or an empty one."""
_PLAIN_COMPONENTS = "names between single slashes, and none of them '.' or '..'"


def is_collapsed(path: str) -> bool:
    """True for a whole path that Hadoop's client takes for another one; more slashes than one change nothing."""
    return _COLLAPSED.search(path) is not None


def leads_elsewhere(relative: str) -> bool:
    """True for a path below a directory that is not the place that its text says, or none."""
    return _ODD.search(relative) is not None


def path_error(what: str, relative: str, next_step: Text) -> ActNow:
    """Return the error for a path that leads elsewhere; `what` names it, and who says it."""
    return ActNow(
        f"{what} leads out of the directory that it belongs in, or to no place at all",
        found=relative or "an empty path",
        expected=_PLAIN_COMPONENTS,
        next_step=next_step,
    )


def place_below(directory: str, *components: str) -> str:
    """Join components to a directory, and prove that the result lies in it. Raises ActNow."""
    place = join(directory, *components)
    if not is_below(place, directory) or leads_elsewhere(place[len(directory.rstrip("/")) + 1 :]):
        step = "nothing was written there; find out who named this path: an event, a dump or a location"
        raise path_error(f"the path {place}, which belongs below {directory},", "/".join(components), step)
    return place

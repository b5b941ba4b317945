"""Keep which sets a replica holds back, and why, for whoever asks: `sets/held.json` in staging.

It is a picture of the last look, no state: every look finds out anew what is held.
"""

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress

from twinhive.model.errors import Missing
from twinhive.model.files import join
from twinhive.model.policy import Policy
from twinhive.model.sets.showing import HeldSet
from twinhive.model.text import render
from twinhive.ports import FileReader, FileWriter


def held_sets(files: FileReader, policy: Policy) -> Mapping[str, str]:
    """Return what is held: table and set, with the reason and the next step."""
    with suppress(Missing):
        found: dict[str, str] = json.loads(files.read(_path(policy)))
        return found
    return {}


def write_held_sets(files: FileWriter, policy: Policy, held: Sequence[HeldSet]) -> None:
    """Replace the picture, where it is another one."""
    now = {f"{one.mark.table.table} {one.mark.spec}": f"{one.why}; next: {render(one.next_step)}" for one in held}
    if now == held_sets(files, policy):
        return
    if now:
        files.write(_path(policy), json.dumps(now, ensure_ascii=False, indent=1).encode())
    else:
        files.delete_file(_path(policy))


def _path(policy: Policy) -> str:
    return join(policy.staging, "sets", "held.json")

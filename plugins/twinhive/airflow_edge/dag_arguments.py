"""Say once what is the same of all DAGs."""

from collections.abc import Mapping
from typing import Any

from twinhive.settings import PolicyEntry

ALWAYS: Mapping[str, Any] = {
    "catchup": False,
    # A run goes on with the files as they are now, also where Airflow keeps versions of them: who corrects a policy
    # file and clears a task wants the corrected one, and a first copy of days must see changed options.
    "disable_bundle_versioning": True,
}


def red_tag(entry: PolicyEntry) -> list[str]:
    """Return the tag of a policy that cannot be used."""
    return ["invalid"] if entry.error else []

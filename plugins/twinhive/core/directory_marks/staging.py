"""Prove that a directory is a policy's staging: by its mark, or by what earlier versions wrote into it.

What lies in staging, by name: copies that wait, notes, leases, requests. An earlier version's directory has no mark;
what it did leave are names that nobody else gives to files, as those of leases.
"""

import re

from twinhive.core.directory_marks.directories import Mark, Owned, Purpose, claim, final_name, foreign, proven
from twinhive.core.model.errors import Foreign
from twinhive.core.model.files import base_name, join
from twinhive.core.model.policy import Policy
from twinhive.core.ports import FileReader, FileWriter, children

_DUMP_KEY = r"(bootstrap|consolidate|incremental)-\d{12,}-\d{12,}-[0-9a-f]{8}"
_INSIDE = {
    "base": re.compile(r"[0-9a-f]{2}"),
    "control": re.compile(
        r"(paused|forget|everything|fence|failover|clock|window|promoted|diverged)\.json|resync|skip"
    ),
    "copies": re.compile(r"(position|unused)\.json|tables|lists|building|moved"),
    "events": re.compile(r"\d{12,}"),
    "external": re.compile(r"pending|synced|purge|results|claim\.json|waits\.json\.gz|returned|returned_places\.json"),
    "fence": re.compile(r"lease-\d{10}"),
    "hive-dumps": re.compile(r"[0-9a-f]{16}"),
    "lease": re.compile(r"lease-\d{10}"),
    "results": re.compile(_DUMP_KEY + r"|sizes\.jsonl\.gz"),
    "sets": re.compile(r"(held|looked)\.json|run"),
    "scan": re.compile(r"(directories\.json\.gz|unused\.json)|files|looks"),
    "tables": re.compile(_DUMP_KEY),
    "tmp": re.compile(r"[0-9a-f]{32}|parts"),
    "under-way": re.compile(r"lease-\d{10}"),
    "windows": re.compile(r"[0-9a-f]{8}"),
    "verify": re.compile(r"source|replica|runs|(last\.json|suspects\.json\.gz)"),
}
"""What staging may hold, and what may be in that."""
_PROOFS = ("lease", "under-way", "fence", "results", "tables", "scan", "control", "verify", "windows")
"""Those of them whose names nobody else gives."""
_STAGED = re.compile(r"[0-9a-f]{32}_\d+")
"""Name of a copy in `base/<its first two digits>`."""


def staging_mark(policy: str) -> Mark:
    """Return the mark of a policy's staging."""
    return Mark(Purpose.STAGING, policy)


def claim_staging(files: FileWriter, policy: Policy) -> Owned:
    """Make a policy's staging, or find it. Raises Foreign for a directory of somebody else's."""
    return claim(files, policy.staging, staging_mark(policy.name), is_staging)


def own_staging(files: FileWriter, policy: Policy) -> Owned | None:
    """Return a policy's staging, None when nothing proves that it is ours."""
    return staging_of(files, policy.staging, policy.name)


def staging_of(files: FileWriter, directory: str, policy: str) -> Owned | None:
    """Return the staging of a policy of that name, None when nothing proves that it is ours."""
    return proven(files, directory, staging_mark(policy), is_staging)


def foreign_staging(files: FileReader, policy: Policy) -> Foreign | None:
    """Return what keeps a policy's staging from being used, None when nothing does."""
    return foreign(files, policy.staging, staging_mark(policy.name), is_staging)


def is_staging(files: FileReader, directory: str) -> bool:
    """Return True for a directory that holds what only we write, and nothing else.

    Or nothing at all in directories of our names, such as what claiming a base directory leaves before a first copy. A
    first copy that is not through has left copies alone.
    """
    names = [base_name(child.path) for child in children(files, directory)]
    if not names or not _INSIDE.keys() >= set(names):
        return False
    proofs, is_empty = 0, True
    for path, inside in files.list_directories([join(directory, name) for name in names]):
        name, found = base_name(path), [final_name(base_name(child.path)) for child in inside or ()]
        if not all(_INSIDE[name].fullmatch(one) for one in found):
            return False
        proofs += len(found) if name in _PROOFS else 0
        is_empty = is_empty and not found
    return proofs > 0 or is_empty or ("base" in names and _has_copies(files, join(directory, "base")))


def is_named_as_in_staging(name: str, inside: str | None = None) -> bool:
    """Return True for a name of ours in staging, and for one in that."""
    return name in _INSIDE and (inside is None or _INSIDE[name].fullmatch(inside) is not None)


def _has_copies(files: FileReader, base: str) -> bool:
    """Return True for a directory with staged copies in it; one look into each of its directories has to do."""
    has_any = False
    for child in children(files, base):
        _, page = next(iter(files.list_pages([child.path])))
        names = [base_name(one.path) for one in page or ()]
        if not all(_STAGED.fullmatch(name) and name.startswith(base_name(child.path)) for name in names):
            return False
        has_any = has_any or bool(names)
    return has_any

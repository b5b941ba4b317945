"""Claim a base directory of external tables: a file in it says which policy writes below it."""

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from twinhive.core.directory_marks.directories import Owned
from twinhive.core.directory_marks.staging import claim_staging, make_staging
from twinhive.core.model.errors import Foreign, InvalidSettings, Missing, Refused, refused_as
from twinhive.core.model.external.modes import NO_BASE
from twinhive.core.model.files import authority, is_below, join, parent
from twinhive.core.model.marks import EXTERNAL_BASE
from twinhive.core.model.next_steps import NAME_ANOTHER_BASE
from twinhive.core.model.policy import Policy
from twinhive.core.model.text import Clear
from twinhive.core.ports import FileReader, ReadPorts, WritePorts
from twinhive.transfer.tree.work_directories import CLAIM


def overlap(one: str, other: str) -> bool:
    """True when two directories are one, or one lies in the other."""
    return one.rstrip("/") == other.rstrip("/") or is_below(one, other) or is_below(other, one)


def others_claims(ports: ReadPorts, policy: Policy, base: str, places: Iterable[str] = ()) -> Iterator[Foreign]:
    """Yield an error for each other policy that uses the base directory, one around it, or one inside.

    Of a way back the `places` of its tables are looked at: they lie all over the file system. Databases are asked
    only before the directory is claimed: who wants one inside of it, or around it, later on finds our claim, or our
    database.
    """
    log_id = ports.source.log_id()
    wanted = dict.fromkeys(places) if policy.external.returns_from else {base: None}
    above = {directory: place for place in wanted for directory in _with_those_above(place)}
    for directory, place in above.items():
        claim = _read(ports.replica_files, directory)
        if claim is not None and not _is_ours(claim, policy, log_id):
            yield _used(policy, place, f"{join(directory, CLAIM)}, written by {_owner(claim)}")
    if _read(ports.replica_files, _claimed(policy, base)) is None:
        yield from _bases_of_databases(ports, policy, list(wanted))


def _bases_of_databases(ports: ReadPorts, policy: Policy, places: Sequence[str]) -> Iterator[Foreign]:
    for name in ports.replica.database_names():
        if name == policy.replica.database:
            continue
        database = ports.replica.database(name)
        other = database.parameters.get(EXTERNAL_BASE, NO_BASE) if database else NO_BASE
        for place in places if other != NO_BASE else ():
            if overlap(place, other):
                yield _used(policy, place, f"the replica database {name} has its external tables in {other}")


def write_claim(ports: WritePorts, policy: Policy, base: str) -> bool:
    """Claim the base directory; False when it was ours. Raises Foreign, and Refused where it cannot be written."""
    files, place = ports.replica_files, _claimed(policy, base)
    path, log_id = join(place, CLAIM), ports.source.log_id()
    if _holds(files, policy, base, log_id):
        return False
    # What is written there now may be the first: without its mark staging would be taken for somebody else's.
    (claim_staging if policy.external.returns_from else make_staging)(files, policy)
    draft = join(policy.staging, "external", "claim.json")
    files.write(draft, json.dumps(_claim(policy, log_id), indent=1).encode())
    try:
        files.make_directories(place)
        # A rename puts nothing over a claim that another policy has written meanwhile.
        renamed = files.rename(draft, path)
    except Refused as error:
        files.delete_file(draft)
        raise refused_as(
            error,
            f"the base directory of external tables {base} cannot be written",
            found=error,
            expected="a directory that the replica's user may write",
            next_step=f"hdfs dfs -mkdir -p {base}, and give it to that user; then " + Clear("the task"),
        ) from error
    if not renamed:
        files.delete_file(draft)
        _holds(files, policy, base, log_id)
    return renamed


def remove_claim(ports: WritePorts, policy: Policy, base: str, log_id: str | None = None) -> bool:
    """Give the base directory up; False when it was not ours. The source is asked for its log where that is unknown."""
    place = _claimed(policy, base)
    claim = _read(ports.replica_files, place)
    if claim is None or not _is_ours(claim, policy, log_id or ports.source.log_id()):
        return False
    return ports.replica_files.delete_file(join(place, CLAIM))


def own_base(ports: WritePorts, policy: Policy) -> Owned | None:
    """Return the base directory, in which only this policy's copies are; None when its claim is not ours."""
    base = policy.external.base_directory
    claim = None if base is None else _read(ports.replica_files, _claimed(policy, base))
    if base is None or claim is None or not _is_ours(claim, policy, ports.source.log_id()):
        return None
    return Owned(ports.replica_files, base)


def _claimed(policy: Policy, base: str) -> str:
    """Return the directory that holds our claim: the base, or on a way back, which has none of its own, in staging."""
    return join(policy.staging, "external", "returned") if policy.external.returns_from else base


def _holds(files: FileReader, policy: Policy, base: str, log_id: str) -> bool:
    place = _claimed(policy, base)
    claim = _read(files, place)
    if claim is not None and not _is_ours(claim, policy, log_id):
        raise _used(policy, base, f"{join(place, CLAIM)}, written by {_owner(claim)}")
    return claim is not None


def _claim(policy: Policy, log_id: str) -> dict[str, str]:
    return {
        "policy": policy.name,
        "source": str(policy.source),
        "replica": str(policy.replica),
        "source_log": log_id,
    }


def _is_ours(claim: dict[str, Any], policy: Policy, log_id: str) -> bool:
    return claim == _claim(policy, log_id)


def _owner(claim: dict[str, Any]) -> str:
    return f"policy {claim.get('policy')} ({claim.get('source')} into {claim.get('replica')})"


def _read(files: FileReader, directory: str) -> dict[str, Any] | None:
    path = join(directory, CLAIM)
    try:
        claim = json.loads(files.read(path))
    except Missing:
        return None
    except ValueError as error:
        claim = str(error)
    if not isinstance(claim, dict):
        raise InvalidSettings(
            f"{path} does not say which policy uses this directory",
            found=f"{claim!r:.80}",
            expected="the file as twinhive wrote it",
            next_step="delete it if no policy uses that directory; else put it back",
        )
    return claim


def _with_those_above(base: str) -> Iterator[str]:
    directory, root = base.rstrip("/"), authority(base)
    while len(directory) > len(root):
        yield directory
        directory = parent(directory)
    yield root


def _used(policy: Policy, base: str, found: str) -> Foreign:
    return Foreign(
        f"the base directory of external tables {base} of policy {policy.name} is in use",
        found=found,
        expected="a directory that no other policy uses, and that is neither in one's nor around one's",
        next_step=NAME_ANOTHER_BASE
        + "; if that policy is gone for good, delete its claim (hdfs dfs -rm) or its database; then "
        + Clear("the task"),
    )

"""On a way back, copy external data only into directories that are the old primary's tables', or were nobody's.

A way back has no base directory in which everything is ours: its places lie all over the file system. What the users of
the new primary have made anew may belong where somebody else has put something since.
"""

import json
from collections.abc import Iterator, Sequence

from twinhive.core.model.errors import Foreign, TwinhiveError, together
from twinhive.core.model.files import authority, join, parent
from twinhive.core.model.policy import Policy
from twinhive.core.model.text import Clear
from twinhive.core.ports import MetastoreReader, ReadPorts, WritePorts
from twinhive.replication.dump.json_files import read_json
from twinhive.replication.dump.passes.external_entries import Entry
from twinhive.replication.replica.source_scope import read_selected


def take_places(ports: WritePorts, policy: Policy, entries: Sequence[Entry]) -> None:
    """Note the places of all entries as ours. Raises Foreign for those that hold what is not; nothing is noted then.

    A place that was noted once stays so: a killed copy may have left it with something in it.
    """
    if policy.external.returns_from is None:
        return
    path = join(policy.staging, "external", "returned_places.json")
    known = read_json(ports.replica_files, path) or {}
    taken = set(known.get("places", ()))
    new = {policy.external.place(entry.location, entry.key): entry for entry in entries}
    new = {place: entry for place, entry in new.items() if place not in taken}
    if not new:
        return
    if problems := list(_foreign(ports, policy, new)):
        what = f"{len(problems)} places of external tables of policy {policy.name} are somebody else's"
        raise together(problems, what + "; nothing was copied")
    ports.replica_files.write(path, json.dumps({"places": sorted(taken | new.keys())}).encode())


def _foreign(ports: ReadPorts, policy: Policy, new: dict[str, Entry]) -> Iterator[TwinhiveError]:
    filled = [place for place in sorted(new) if _holds_anything(ports, place)]
    if not filled:
        return
    own = set(_own_places(ports.replica, policy))
    for place in filled:
        if not own & {place, *_above(place)}:
            yield Foreign(
                f"{new[place].key}: its place {place} holds what no table of {policy.replica} uses",
                found=f"something in {place}",
                expected="a directory of one of that database's tables, an empty one, or none",
                next_step=f"look whose it is; if it is nobody's, move it away (hdfs dfs -mv {place} ...); then "
                + Clear("the task"),
            )


def _own_places(metastore: MetastoreReader, policy: Policy) -> Iterator[str]:
    for table in read_selected(metastore, policy, policy.replica.database):
        if table.is_external and table.location:
            yield table.location
            if table.partition_keys:
                yield from (place for _, place in metastore.partition_locations(table))


def _above(place: str) -> Iterator[str]:
    root = authority(place)
    while len(place := parent(place)) > len(root) + 1:
        yield place


def _holds_anything(ports: ReadPorts, place: str) -> bool:
    [(_, children)] = ports.replica_files.list_directories([place])
    return bool(children)

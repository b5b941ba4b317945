"""Which tables a verification compares, and of which it says nothing, each with the reason."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from twinhive.core.model.policy import Policy
from twinhive.core.model.quarantine import frozen_tables
from twinhive.core.ports import ReadPorts
from twinhive.replication.operator_requests.request_files import requested_tables
from twinhive.replication.replica.pending_files import pending_names
from twinhive.replication.replica.source_scope import readable_tables, selected_names
from twinhive.replication.verify.touched_leaves import DATABASE


@dataclass(frozen=True)
class VerifyScope:
    """Tables by their names at the source, `DATABASE` for what is not of a table."""

    names: tuple[str, ...]
    left_out: Mapping[str, str]
    not_judged: Mapping[str, str]
    policy: Policy
    only: frozenset[str]

    def compares(self, table: str) -> bool:
        """True for a table that is to be compared, wherever it is, also one that was made since."""
        is_wanted = table in self.only if self.only else table == DATABASE or self.policy.selects(table)
        return is_wanted and table not in self.left_out and table not in self.not_judged


def read_verify_scope(ports: ReadPorts, policy: Policy, only: Sequence[str]) -> VerifyScope:
    """Return what is to be compared: what the policy selects of both sides. Raises Missing without the source's."""
    found = selected_names(ports.source, policy, policy.source.database)
    selected, unreadable = readable_tables(ports.source, policy.source.database, found)
    database = ports.replica.database(policy.replica.database)
    left_out = {one.name.table: why for one in selected if (why := policy.left_out(one))}
    not_judged = dict.fromkeys(pending_names(ports.replica_files, policy), "an external table that waits for its data")
    not_judged |= dict.fromkeys(requested_tables(ports.replica_files, policy), "asked for: the next window brings it")
    not_judged |= {table: why.words.what for table, why in unreadable.items()}
    frozen = frozen_tables(database.parameters if database else {})
    not_judged |= {table: f"quarantined: {why}" for table, why in frozen.items() if policy.selects(table)}
    here = {one.name.table for one in selected} | unreadable.keys()
    there = {*selected_names(ports.replica, policy, policy.replica.database)}
    # What no policy brings may live beside the replica: of it nothing is at the source.
    alone, _ = readable_tables(ports.replica, policy.replica.database, sorted(there - here))
    left_out |= {one.name.table: f"on the replica alone: {why}" for one in alone if (why := policy.left_out(one))}
    names = here | there
    wanted = names & set(only) if only else names | {DATABASE}

    def asked(some: Mapping[str, str]) -> dict[str, str]:
        return {table: why for table, why in some.items() if not only or table in only}

    compared = wanted - left_out.keys() - not_judged.keys()
    return VerifyScope(tuple(sorted(compared)), asked(left_out), asked(not_judged), policy, frozenset(only))

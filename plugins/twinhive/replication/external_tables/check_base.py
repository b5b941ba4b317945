"""Check the base directory of external tables before anything is written below it, one line per check."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from twinhive.core.model.errors import ActNow, InvalidSettings, TwinhiveError, together
from twinhive.core.model.external.modes import COPY
from twinhive.core.model.files import authority, qualified
from twinhive.core.model.next_steps import (
    BASE_DIRECTORY,
    DUMP_ROOT,
    IN_THE_POLICY_FILE,
    NAME_A_BASE,
    NAME_ANOTHER_BASE,
    STAGING_ROOT,
    correct,
)
from twinhive.core.model.objects import Table
from twinhive.core.model.policy import Policy
from twinhive.core.model.text import Clear, Text, render
from twinhive.core.model.untrusted_paths import is_collapsed
from twinhive.core.ports import ReadPorts, WritePorts
from twinhive.core.step.step_base import Work
from twinhive.replication.replica.base_claim import others_claims, overlap, remove_claim, write_claim
from twinhive.replication.replica.replica_state import refuse_taken_over
from twinhive.replication.replica.source_scope import readable_scope
from twinhive.replication.replica.unusable_tables import UnusableTables


@dataclass(frozen=True)
class BaseChecked:
    """What the gate found: how many external tables have their data copied, and where to; why nothing is."""

    tables: int = 0
    base_directory: str = ""
    nothing: str = ""


@dataclass(frozen=True)
class CheckBase:
    """Check the base directory, and claim it for the policy."""

    work: Work

    def run(self, ports: WritePorts) -> BaseChecked:
        """Return what was found. Raises one error that holds every problem; nothing is changed then."""
        policy, report = self.work.policy, self.work.report
        refuse_taken_over(ports.replica.database(policy.replica.database), policy)
        tables = tables_to_copy(policy, external_tables(ports, policy))
        if isinstance(tables, str):
            report(f"nothing to check: {tables}")
            return BaseChecked(nothing=tables)
        base = policy.external.base_directory or ""
        report(f"{len(tables):,} external tables have their data copied below {base or 'no base directory'}")
        problems: list[TwinhiveError] = []
        for what, found in _checks(ports, policy, tables):
            report(f"{'FAIL' if found else 'ok':5}  {what}")
            problems += found
        if problems:
            raise together(
                problems, f"the base directory of policy {policy.name} cannot be used: {len(problems)} problems"
            )
        claimed = write_claim(ports, policy, base)
        report(f"ok     writable, and claimed for policy {policy.name}{' now' if claimed else ''}")
        return BaseChecked(len(tables), base)


def base_problems(ports: ReadPorts, policy: Policy, external: Sequence[Table]) -> Iterator[TwinhiveError]:
    """Yield what is wrong with the base directory; nothing where the policy needs none. Nothing is changed.

    `external` are the external tables of the policy's scope.
    """
    tables = tables_to_copy(policy, external)
    if not isinstance(tables, str):
        for _, found in _checks(ports, policy, tables):
            yield from found


def claim_base(ports: WritePorts, policy: Policy, external: Sequence[Table]) -> None:
    """Claim the base directory where the policy needs one. Raises Foreign, Refused."""
    base = policy.external.base_directory
    if base is not None and not isinstance(tables_to_copy(policy, external), str):
        write_claim(ports, policy, base)


def release_base(ports: WritePorts, policy: Policy, log_id: str | None = None) -> bool:
    """Give the base directory up, for a policy that is forgotten; the files below it stay. False: it was not ours.

    `log_id` is that of the source; without it the source is asked.
    """
    base = policy.external.base_directory
    if base is None or authority(base) != ports.replica_files.root:
        return False
    return remove_claim(ports, policy, base, log_id)


def external_tables(ports: ReadPorts, policy: Policy) -> tuple[Table, ...]:
    """Read the external tables of the scope that can be read, where the policy copies any: a pass names the others."""
    return readable_scope(ports.source, policy, UnusableTables(policy)).external if policy.external.included else ()


def tables_to_copy(policy: Policy, external: Sequence[Table]) -> tuple[Table, ...] | str:
    """Return those external tables of the scope whose data is copied, or why there are none."""
    said = policy.external
    if not said.included:
        return "the policy leaves external tables out"
    if said.data != COPY:
        return "of external tables the policy replicates metadata only"
    copied = tuple(table for table in external if not said.stays(table.location or ""))
    if not copied:
        return "the data of all external tables stays where it is" if external else "there are no external tables"
    return copied


def kept_places(ports: ReadPorts, policy: Policy) -> dict[str, Text]:
    """Return the directories of the replica's file system that no external table may be in, and what they are."""
    warehouses = {
        ports.replica.configuration(address, "metastore.warehouse.dir").strip() for address in ports.replica.addresses()
    }
    places: dict[str, Text] = dict.fromkeys(warehouses - {""}, "the replica's managed warehouse")
    database = ports.replica.database(policy.replica.database)
    if database is not None and database.managed_location:
        places[database.managed_location] = f"the managed tables of the replica database {database.name}"
    places |= {policy.staging_root: STAGING_ROOT, policy.dump_root: DUMP_ROOT}
    root = ports.replica_files.root
    whole = {qualified(path, root): what for path, what in places.items()}
    return {path: what for path, what in whole.items() if authority(path) == root}


FoundOfTable = tuple[str, list[TwinhiveError]]


def _checks(ports: ReadPorts, policy: Policy, tables: Sequence[Table]) -> Iterator[FoundOfTable]:
    """Yield each check with its problems; those that need a directory only where there is one to look at."""
    base = policy.external.base_directory
    yield "set", [] if base is not None else [_not_set(policy, tables)]
    if base is None:
        return
    unqualified = list(_not_qualified(policy, base))
    yield "fully qualified", unqualified
    if unqualified:
        return
    elsewhere = list(_elsewhere(ports, policy, base))
    yield f"on the replica's file system {ports.replica_files.root}, and not on the source's", elsewhere
    if elsewhere:
        return
    yield "a directory, or not there yet", _found(_no_directory, ports, policy, base)
    places = kept_places(ports, policy)
    yield f"apart from {_named(places)}", list(_in_the_way(policy, base, places, tables))
    here = [table for table in tables if _is_here(policy, table)]
    targets = [policy.external.place(table.location or "", str(table.name)) for table in here]
    claims = partial(others_claims, places=targets)
    yield "used by no other policy, in no other's, around no other's", _found(claims, ports, policy, base)


def _found(
    check: Callable[[ReadPorts, Policy, str], Iterator[TwinhiveError]], ports: ReadPorts, policy: Policy, base: str
) -> list[TwinhiveError]:
    """Return what a check yields, and what it stumbles over."""
    problems: list[TwinhiveError] = []
    try:
        problems += check(ports, policy, base)
    except ActNow as problem:
        problems.append(problem)
    return problems


def _not_set(policy: Policy, tables: Sequence[Table]) -> TwinhiveError:
    return InvalidSettings(
        f"policy {policy.name} has external tables and no " + BASE_DIRECTORY,
        found=f"{len(tables):,} external tables, the first is {tables[0].name} at {tables[0].location}",
        expected="a directory on the replica's file system, below which all source paths begin",
        next_step=NAME_A_BASE,
    )


def _not_qualified(policy: Policy, base: str) -> Iterator[TwinhiveError]:
    scheme, separator, rest = base.partition("://")
    host, _, path = rest.partition("/")
    parts = path.split("/")
    if not (scheme and separator and host) or "/" not in rest or {".", ".."} & set(parts) or "" in parts[:-1]:
        yield InvalidSettings(
            BASE_DIRECTORY + f" of policy {policy.name} is not fully qualified",
            found=base,
            expected=f"scheme, authority and a plain path: {policy.staging_root.partition('://')[0]}://west/external",
            next_step="correct it " + IN_THE_POLICY_FILE + ", then " + Clear("the task"),
        )


def _elsewhere(ports: ReadPorts, policy: Policy, base: str) -> Iterator[TwinhiveError]:
    root, on = ports.replica_files.root, authority(base)
    if on != root or on == policy.external.source_root:
        where = "the source's file system" if on == policy.external.source_root else "a file system of neither cluster"
        yield InvalidSettings(
            f"the base directory of external tables of policy {policy.name} is on {where}",
            found=base,
            expected=f"a directory on {root}, the file system of the replica cluster {policy.replica.cluster}",
            next_step=correct(BASE_DIRECTORY) + ", then " + Clear("the task"),
        )


def _no_directory(ports: ReadPorts, policy: Policy, base: str) -> Iterator[TwinhiveError]:
    there = ports.replica_files.status(base)
    if there is not None and not there.is_directory:
        yield InvalidSettings(
            f"the base directory of external tables {base} of policy {policy.name} is a file",
            found=f"a file of {there.length:,} bytes",
            expected="a directory, or nothing",
            next_step=NAME_ANOTHER_BASE + ", then " + Clear("the task"),
        )


def _in_the_way(policy: Policy, base: str, places: dict[str, Text], tables: Sequence[Table]) -> Iterator[TwinhiveError]:
    if not is_root(base):
        yield from misplaced(policy, f"the base directory {base}", base, places)
        return
    for table in tables:
        if _is_here(policy, table):
            target = policy.external.place(table.location or "", str(table.name))
            yield from misplaced(policy, str(table.name), target, places)


def _is_here(policy: Policy, table: Table) -> bool:
    return policy.external.source_root == authority(table.location or "") and not is_collapsed(table.location or "")


def is_root(base: str) -> bool:
    """True for a base directory that keeps the source's paths: a file system's root."""
    return base.rstrip("/") == authority(base)


def misplaced(policy: Policy, what: str, target: str, places: dict[str, Text]) -> Iterator[InvalidSettings]:
    """Yield an error for each directory that no external table may be in, and `target` is in or around."""
    for place, name in places.items():
        if overlap(target, place):
            yield InvalidSettings(
                f"external tables of policy {policy.name}: {what} is not apart from " + name,
                found=place if target in what else f"{target} and {place}",
                expected="neither of them in the other",
                next_step=NAME_ANOTHER_BASE + ", then " + Clear("the task"),
            )


def _named(places: dict[str, Text]) -> str:
    return ", ".join(f"{render(what)} {path}" for path, what in places.items())

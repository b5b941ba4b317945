"""Cases that no command line reaches: what tasks are handed, and what lies in a dump or in staging."""

from collections.abc import Callable

from tests.support.builders import a_policy
from tests.support.worlds.fake_world import World
from twinhive.core.model.external.modes import External
from twinhive.core.step.step_base import Work
from twinhive.operations.journal import address
from twinhive.operations.journal.opening import open_engine
from twinhive.operations.operation_kinds import OperationFields, operation_of
from twinhive.replication.bootstrap.gate import Gate
from twinhive.replication.dump.dump_layout import result_path
from twinhive.replication.dump.dump_store import current_dump
from twinhive.replication.dump.passes.external_locations import decode_locations
from twinhive.replication.incremental.event_reached import table_in_scope
from twinhive.runtime.pipeline.phases import BOOTSTRAP, CONSOLIDATE
from twinhive.runtime.pipeline.runner import run_phase
from twinhive.transfer.tree.path_rule import lay_out
from twinhive.transfer.tree.request import SyncOptions, SyncRequest

Refusal = tuple[str, Callable[[World], object], str]
"""A name, what is called, and what the error has to say."""


def _external_without_a_base(world: World) -> object:
    return External(source_root="hdfs://east").place("hdfs://east/t", "sales.t")


def _not_consolidated(world: World) -> object:
    run_phase(BOOTSTRAP, a_policy(), world.ports(), {}, lambda line: None)
    return Gate(Work(a_policy())).run(world.ports())


def _not_copied(world: World) -> object:
    policy, ports = a_policy(), world.ports()
    run_phase(BOOTSTRAP, policy, ports, {}, lambda line: None)
    run_phase(CONSOLIDATE[:2], policy, ports, {}, lambda line: None)
    dump = current_dump(ports.dump_files, policy)
    for batch in dump.manifest.batches:
        world.replica_files.delete(result_path(policy.staging, dump.key, batch.name))
    return Gate(Work(policy)).run(ports)


def _journal_of_a_connection_outside_of_airflow(world: World) -> object:
    known, address._of_connections[:] = list(address._of_connections), []
    try:
        return address.resolved("airflow://journal")
    finally:
        address._of_connections[:] = known


STEP_CASES: tuple[Refusal, ...] = (
    (
        "external: a location that leads elsewhere",
        lambda world: External(source_root="hdfs://east").place("hdfs://east/data/../far", "sales.t"),
        "is another place than it says",
    ),
    (
        "journal: a connection where nobody asks Airflow",
        _journal_of_a_connection_outside_of_airflow,
        "the journal cannot be opened",
    ),
    (
        "operate: an operation that does not exist",
        lambda world: operation_of("destroy", a_policy(), {}, OperationFields()),
        "operation: unknown",
    ),
    ("gate: a dump that is not consolidated", _not_consolidated, "is not consolidated"),
    ("gate: files that are not copied", _not_copied, "is not complete on the replica"),
    (
        "pass: a list that somebody has edited",
        lambda world: list(decode_locations(b"nonsense\n")),
        "holds a line that is none",
    ),
    ("apply: an external table, and no base", _external_without_a_base, "no external_tables.base_directory"),
    (
        "copy: no source",
        lambda world: lay_out(SyncRequest((), "hdfs://west/t"), world.source_files, world.replica_files),
        "there is nothing to copy",
    ),
    ("copy: an option of another version", lambda world: SyncOptions.of({"colour": 1}), "colour is not one of them"),
    (
        "sensor: a table that the policy does not select",
        lambda world: table_in_scope(a_policy(exclude=("tmp_.*",)), "tmp_1"),
        "does not replicate table tmp_1",
    ),
    (
        "journal: an address that is none",
        lambda world: open_engine("nonsense", writes=False),
        "the journal cannot be opened",
    ),
)

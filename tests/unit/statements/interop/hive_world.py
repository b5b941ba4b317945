"""Carry dumps of a world in memory through Hive's layout and back."""

from dataclasses import replace
from itertools import count

from tests.support.worlds.repl_world import EVERYTHING, ReplWorld, Scope
from twinhive.core.model.policy import Policy
from twinhive.core.step.step_base import Work
from twinhive.replication.bootstrap.function_check import function_files
from twinhive.replication.dump.dump_store import Dump
from twinhive.replication.dump.manifest import LeftOutObject
from twinhive.replication.dump.repl_dump_description import SealedDump, open_sealed, seal
from twinhive.statements.interop.hive_dump.bootstrap_writing import write_bootstrap
from twinhive.statements.interop.hive_dump.dump_conversion import convert
from twinhive.statements.interop.hive_dump.hive_dump_options import Terms
from twinhive.statements.interop.hive_dump.hive_dump_reading import HiveDump, read_hive_dump
from twinhive.statements.interop.hive_dump.hive_layout import hive_directory
from twinhive.statements.interop.hive_dump.incremental_writing import write_incremental
from twinhive.statements.steps.repl_load import ReplLoad

CMROOT = "hdfs://east/cmroot"
ROOT = "hdfs://east/hive/repl"


class HiveWorld:
    """A world whose names Hive's layout can say."""

    def __init__(self) -> None:
        self.repl = ReplWorld()
        self.users = self.repl.users
        self.files = self.repl.world.source_files
        self._serial = count(1)
        self.left_out: tuple[LeftOutObject, ...] = ()
        self.database_before = self.repl.world.source.database("sales")
        self.users.drop_partitions("orders", [("50%=#:ü",)])

    def our_dump(self, from_event: int | None = None, scope: Scope = (EVERYTHING, ())) -> Dump:
        return open_sealed(self.files, self.repl.dump(from_event, scope=scope).directory)[1]

    def write(self, dump: Dump, scope: Scope = (EVERYTHING, ())) -> str:
        """Write a dump of ours for Hive; return its directory."""
        directory = hive_directory(ROOT, "sales", str(next(self._serial)))
        write = write_bootstrap if dump.manifest.kind == "consolidate" else write_incremental
        written = write(self.files, self.files, self.files, dump, directory, self.terms(scope))
        self.left_out = written if isinstance(written, tuple) else written.left_out
        return directory

    def terms(self, scope: Scope = (EVERYTHING, ())) -> Terms:
        """Return what Hive is told beside the objects."""
        policy = self.repl.policy(scope)
        return Terms(policy, CMROOT, function_files(self.files, policy, CMROOT))

    def for_hive(self, from_event: int | None = None, scope: Scope = (EVERYTHING, ())) -> HiveDump:
        """Return what Hive is told of all there is, or of what came after an event."""
        return read_hive_dump(self.files, self.write(self.our_dump(from_event, scope), scope))

    def policy(self) -> Policy:
        """Return a policy whose dump is one that is taken over from Hive."""
        directory = f"hdfs://east/taken/{next(self._serial)}"
        return replace(self.repl.policy(), dump_directory=directory)

    def taken_over(self, hive: HiveDump, policy: Policy | None = None) -> Dump:
        log_id = self.repl.world.source.log_id()
        return convert(self.files, self.files, hive, policy or self.policy(), log_id)

    def load(self, hive: HiveDump) -> int:
        """Load a dump of Hive's layout into the replica; return the event that it is at."""
        policy = self.policy()
        return self.load_ours(self.taken_over(hive, policy), policy)

    def load_ours(self, dump: Dump, policy: Policy) -> int:
        """Load a dump of our layout that lies where the policy says."""
        sealed = SealedDump("REPL DUMP sales", "east", "sales", dump.layout.name, dump.manifest.end.event_id, 1)
        seal(self.files, policy.dumps, sealed)
        work = Work(policy, holder={"run": "load"})
        return ReplLoad(work, dump, clock=lambda: 0.0).run(self.repl.world.ports()).event_id

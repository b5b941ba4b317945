"""Ask for the replicas that have loaded dumps, on whichever cluster they are."""

from dataclasses import dataclass

from twinhive.core.model.marks import POLICY, SOURCE_LOG
from twinhive.core.model.objects import Database
from twinhive.replication.dump.loader_notes import LoaderNote
from twinhive.runtime.wiring.file_wiring import lease_keeper
from twinhive.runtime.wiring.policy_wiring import metastore
from twinhive.statements.execution.statement_cluster import StatementPlace
from twinhive.statements.steps.load_lease import under_way_in
from twinhive.statements.steps.repl_load import replicated_event
from twinhive.statements.steps.take_over import is_of_hive


@dataclass(frozen=True)
class NotedReplicas:
    """The replicas that notes of loaders speak of."""

    place: StatementPlace

    def is_gone(self, note: LoaderNote) -> bool:
        """True when there is no replica of this source by this name, and no load that would make one.

        Raises ActNow for a cluster that is not configured, TryAgain when the cluster does not answer.
        """
        cluster = note.replica.partition("/")[0]
        self.place.cluster_named(cluster, f"the note of {note.replica}")
        # In this order: a load makes the database while it is under way.
        if lease_keeper(self.place.servers(cluster).files, settle_seconds=0).is_held(under_way_in(note.staging)):
            return False
        return not _is_it(self._database(note), note)

    def reached(self, note: LoaderNote) -> int:
        """Return the event that the replica itself shows, which the DAGs of a policy bring further without a note.

        0 while it does not follow by our marks: another id may be of another log.
        """
        database = self._database(note)
        if database is None or not _bears_marks(database, note) or is_of_hive(database):
            return 0
        return replicated_event(database) or 0

    def _database(self, note: LoaderNote) -> Database | None:
        cluster, _, database = note.replica.partition("/")
        return metastore(self.place.servers(cluster).metastore).database(database)


def _is_it(database: Database | None, note: LoaderNote) -> bool:
    return database is not None and (_bears_marks(database, note) or is_of_hive(database))


def _bears_marks(database: Database, note: LoaderNote) -> bool:
    marks = database.parameters
    return (marks.get(POLICY), marks.get(SOURCE_LOG)) == (note.policy, note.log_id)

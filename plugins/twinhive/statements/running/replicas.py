"""Ask for the replicas that have loaded dumps, on whichever cluster they are."""

from dataclasses import dataclass

from twinhive.dump.loader_notes import LoaderNote
from twinhive.model.errors import ActNow
from twinhive.model.marks import POLICY, SOURCE_LOG
from twinhive.model.objects import Database
from twinhive.statements.running.clusters import StatementPlace
from twinhive.statements.steps.load_under_way import under_way_in
from twinhive.statements.steps.take_over import is_of_hive
from twinhive.wiring.files import lease_keeper
from twinhive.wiring.policies import metastore


@dataclass(frozen=True)
class NotedReplicas:
    """The replicas that notes of loaders speak of."""

    place: StatementPlace

    def is_gone(self, note: LoaderNote) -> bool:
        """True when there is no replica of this source by this name, and no load that would make one.

        Raises ActNow for a note of an earlier version and a cluster that is not configured, TryAgain when the cluster
        does not answer.
        """
        if not note.policy:
            raise ActNow(
                f"the note of {note.replica} does not say how to ask for it",
                found="a note of an earlier version",
                expected="the replica's mark and staging directory",
                next_step="remove the note, if that replica is no more",
            )
        cluster, _, database = note.replica.partition("/")
        self.place.cluster_named(cluster, f"the note of {note.replica}")
        servers = self.place.servers(cluster)
        # In this order: a load makes the database while it is under way.
        if lease_keeper(servers.files, settle_seconds=0).is_held(under_way_in(note.staging)):
            return False
        return not _is_it(metastore(servers.metastore).database(database), note)


def _is_it(database: Database | None, note: LoaderNote) -> bool:
    if database is None:
        return False
    marks = database.parameters
    return (marks.get(POLICY), marks.get(SOURCE_LOG)) == (note.policy, note.log_id) or is_of_hive(database)

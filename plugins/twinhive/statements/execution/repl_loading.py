"""Find out what a REPL LOAD is to do: which dump, from which cluster, into which database."""

from dataclasses import dataclass, replace
from functools import partial

from twinhive.core.directory_marks.staging import claim_staging
from twinhive.core.model.endpoints import FileSystemEndpoint
from twinhive.core.model.errors import InvalidSettings, Missing
from twinhive.core.model.files import join, qualified
from twinhive.core.model.policy import DatabaseAddress, Policy
from twinhive.core.ports import WritePorts
from twinhive.core.step.step_base import Work
from twinhive.replication.dump.dump_store import Dump
from twinhive.replication.dump.repl_dump_description import SealedDump, newest_sealed, open_sealed
from twinhive.runtime.settings.repl_settings import ReplSettings
from twinhive.runtime.wiring.file_wiring import files
from twinhive.runtime.wiring.policy_wiring import ports_between
from twinhive.statements.execution.hive_dumps import OfHive, directory_of, scope_of, sealed_of, source_of
from twinhive.statements.execution.spark_copies import CopiesBySpark
from twinhive.statements.execution.statement_cluster import StatementPlace
from twinhive.statements.execution.statement_policy import loading_name, loading_policy
from twinhive.statements.execution.statement_settings import keys_of
from twinhive.statements.interop.hive_dump.hive_dump_reading import is_hive_dump, read_hive_dump
from twinhive.statements.language import LoadStatement, parse_scope
from twinhive.statements.steps.copy_execution import IN_THIS_PROCESS, CopyingPlace
from twinhive.statements.steps.load_lease import under_way


@dataclass(frozen=True)
class Loading:
    """A REPL LOAD that can be run; `dump` is None for one of Hive's that has not been taken over.

    `file_scope` is what the policy file selects whose replica is loaded, None without such a file.
    """

    policy: Policy
    ports: WritePorts
    dump: Dump | None
    settings: ReplSettings
    hive: OfHive | None = None
    hive_places: bool = False
    copying: CopyingPlace = IN_THIS_PROCESS
    file_scope: str | None = None

    def opened(self, work: Work) -> Dump:
        """Return the dump to load; one of Hive's is taken over first."""
        if self.dump is not None:
            return self.dump
        assert self.hive is not None, "it is the one or the other"
        claim_staging(self.ports.replica_files, self.policy)
        with under_way(self.ports, work):
            return self.hive.taken_over(self.ports, self.policy, work.report)


def loading_of(place: StatementPlace, statement: LoadStatement) -> Loading:
    """Open the dump. Raises InvalidSettings, and Missing for one that is not there or not whole."""
    loading = _loading_of(place, statement)
    return replace(loading, file_scope=place.file_scope(loading.policy.replica))


def _loading_of(place: StatementPlace, statement: LoadStatement) -> Loading:
    settings = keys_of(place, statement.settings, "load")
    to_hive = settings.places == "hive"
    cluster = place.loading_cluster()
    directory = _directory(place, statement, cluster, settings)
    dumps = place.file_system_of(directory)
    if is_hive_dump(files(dumps), directory):
        hive = read_hive_dump(files(dumps), directory)
        sealed = sealed_of(hive, source_of(place, hive))
        replica = DatabaseAddress(cluster, _replica_database(statement, sealed, directory))
        staging_root = qualified(settings.staging_root, place.file_system(cluster).root)
        here = directory_of(join(staging_root, loading_name(place, replica)), hive)
        policy = loading_policy(place, replica, sealed, scope_of(hive), settings, here)
        ports = _ports(place, sealed, replica, place.file_system(cluster))
        copying = _copying(place, policy, here)
        of_hive = OfHive(hive, files(dumps))
        return Loading(policy, ports, None, settings, of_hive, hive_places=to_hive, copying=copying)
    sealed, dump = open_sealed(files(dumps), directory)
    place.cluster_named(sealed.cluster, f"the dump {directory}")
    replica = DatabaseAddress(cluster, _replica_database(statement, sealed, directory))
    policy = loading_policy(place, replica, sealed, parse_scope(dump.manifest.statement.scope), settings, directory)
    policy = replace(policy, fingerprint=dump.manifest.fingerprint)
    copying = _copying(place, policy, directory)
    ports = _ports(place, sealed, replica, dumps)
    return Loading(policy, ports, dump, settings, hive_places=to_hive, copying=copying)


def _ports(
    place: StatementPlace, sealed: SealedDump, replica: DatabaseAddress, dumps: FileSystemEndpoint
) -> WritePorts:
    source = place.servers(sealed.cluster, sealed.database)
    return ports_between(source, place.servers(replica.cluster, replica.database), dumps)


def _copying(place: StatementPlace, policy: Policy, dump: str) -> CopyingPlace:
    if place.spark is None:
        return IN_THIS_PROCESS
    source, replica = place.file_system(policy.source.cluster), place.file_system(policy.replica.cluster)
    cluster = partial(place.spark, policy.replica.cluster, policy.options)
    return CopiesBySpark(source, replica, place.file_system_of(dump), policy.options, cluster)


def _replica_database(statement: LoadStatement, sealed: SealedDump, directory: str) -> str:
    """Return the database to load into: with a directory alone, the one that is named is the replica's (seed 002)."""
    if statement.into is None:
        return (statement.database if statement.directory else None) or sealed.database
    if statement.database not in (None, sealed.database):
        raise InvalidSettings(
            f"the dump {directory} is of another database",
            found=sealed.database,
            expected=str(statement.database),
            next_step=f"REPL LOAD {sealed.database} INTO {statement.into} FROM '{directory}', or name another dump",
        )
    return statement.into


def _directory(place: StatementPlace, statement: LoadStatement, cluster: str, settings: ReplSettings) -> str:
    """Return the dump's directory as a URI: as the statement says, else the newest one of its database."""
    root = place.file_system(cluster).root
    if statement.directory:
        return qualified(statement.directory.rstrip("/"), root)
    assert statement.database is not None, "the grammar has seen that one of both is said"
    dumps = join(qualified(settings.root_directory, root), statement.database)
    newest = newest_sealed(files(place.file_system_of(dumps)), dumps)
    if newest is None:
        raise Missing(
            f"there is no dump of database {statement.database} to load",
            found=f"no finished dump in {dumps}",
            expected="a dump that REPL DUMP has finished",
            next_step=f"run REPL DUMP {statement.database}, or say FROM which directory, or where with "
            "WITH ('hive.repl.rootdir'='...')",
        )
    return newest

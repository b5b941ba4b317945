"""Make the policy under which a statement works: of its scope, its WITH, and the policy file that it is run under."""

from dataclasses import replace

from twinhive.core.model.errors import InvalidSettings
from twinhive.core.model.external.modes import COPY, METADATA_ONLY, External
from twinhive.core.model.files import join, parent, qualified
from twinhive.core.model.policy import DatabaseAddress, Policy
from twinhive.replication.dump.repl_dump_description import SealedDump
from twinhive.runtime.settings.repl_settings import ReplSettings
from twinhive.statements.execution.statement_cluster import StatementPlace
from twinhive.statements.language import Scope
from twinhive.statements.steps.repl_names import NAME_PREFIX, replica_name


def dumping_policy(place: StatementPlace, cluster: str, scope: Scope, settings: ReplSettings, token: str) -> Policy:
    """Return the policy of a REPL DUMP, whose dump goes to `<root>/<database>/<token>`."""
    source = place.file_system(cluster)
    root = qualified(settings.root_directory, source.root)
    address = DatabaseAddress(cluster, scope.database)
    return Policy(
        name=place.policy or f"{NAME_PREFIX}{scope.database}",
        source=address,
        # A dump knows no replica; what is read of one here is never used.
        replica=address,
        include=scope.patterns,
        exclude=scope.exclude,
        dump_root=root,
        staging_root="",
        external=replace(settings.external, source_root=source.root),
        options=settings.options,
        dump_directory=join(root, scope.database, token),
    )


def loading_name(place: StatementPlace, replica: DatabaseAddress) -> str:
    """Return the name of a REPL LOAD's policy: the mark of its replica, and its directory in staging."""
    return place.policy or replica_name(replica)


def with_scope(policy: Policy, scope: Scope) -> Policy:
    """Return a policy with another scope."""
    return replace(policy, include=scope.patterns, exclude=scope.exclude)


def loading_policy(
    place: StatementPlace,
    replica: DatabaseAddress,
    sealed: SealedDump,
    scope: Scope,
    settings: ReplSettings,
    directory: str,
) -> Policy:
    """Return the policy of a REPL LOAD: the dump's scope and source, the statement's replica."""
    target = place.file_system(replica.cluster)
    return Policy(
        name=loading_name(place, replica),
        source=DatabaseAddress(sealed.cluster, sealed.database),
        replica=replica,
        include=scope.patterns,
        exclude=scope.exclude,
        dump_root=join(parent(parent(directory)), "_external"),
        staging_root=qualified(settings.staging_root, target.root),
        external=_external(sealed, settings, place.file_system(sealed.cluster).root, target.root),
        options=settings.options,
        dump_directory=directory,
    )


def _external(sealed: SealedDump, settings: ReplSettings, source_root: str, target_root: str) -> External:
    """Return what the dump says of external tables, and of their base directory dump or load."""
    said = settings.external.base_directory
    base = None if said is None else qualified(said, target_root)
    of_dump = sealed.external_base and qualified(sealed.external_base, target_root)
    if base is not None and of_dump and base != of_dump:
        raise InvalidSettings(
            "the dump and the load name different base directories for external tables",
            found=base,
            expected=of_dump,
            next_step="leave hive.repl.replica.external.table.base.dir out of the load",
        )
    return replace(
        settings.external,
        included=sealed.external_included,
        data=COPY if sealed.external_data == COPY else METADATA_ONLY,
        base_directory=base or of_dump or None,
        source_root=source_root,
    )

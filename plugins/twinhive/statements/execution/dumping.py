"""Find out what a REPL DUMP is to do: which cluster, which policy, where to."""

import uuid
from dataclasses import dataclass

from twinhive.core.ports import DumpPorts
from twinhive.runtime.settings.repl_settings import ReplSettings
from twinhive.runtime.wiring.file_wiring import files
from twinhive.runtime.wiring.policy_wiring import metastore, source_marker
from twinhive.statements.execution.statement_cluster import StatementPlace
from twinhive.statements.execution.statement_policy import dumping_policy, with_scope
from twinhive.statements.execution.statement_settings import keys_of
from twinhive.statements.language import DumpStatement, scope_text, to_text
from twinhive.statements.steps.repl_dump_options import DumpOrder, refuse_long_scope


@dataclass(frozen=True)
class Dumping:
    """A REPL DUMP that can be run."""

    order: DumpOrder
    ports: DumpPorts
    settings: ReplSettings


def dumping_of(place: StatementPlace, statement: DumpStatement) -> Dumping:
    """Return what a statement asks for. Raises InvalidSettings; no server is asked."""
    settings = keys_of(place, statement.settings, "dump")
    cluster = place.dumping_cluster()
    if settings.layout != "hive":
        refuse_long_scope(scope_text(statement.scope))
    policy = dumping_policy(place, cluster, statement.scope, settings, uuid.uuid4().hex)
    servers = place.servers(cluster, policy.source.database)
    source = metastore(servers.metastore)
    ports = DumpPorts(
        source=servers.with_one_name(source),
        source_files=files(servers.files),
        dump_files=files(place.file_system_of(policy.dumps)),
        source_marker=source_marker(source),
    )
    order = DumpOrder(
        policy=policy,
        statement=to_text(statement),
        scope=scope_text(statement.scope),
        replaced=with_scope(policy, statement.replaced) if statement.replaced else None,
        replaces=scope_text(statement.replaced) if statement.replaced else "",
        from_event=statement.from_event,
        to_event=statement.to_event,
        limit=statement.limit,
        metadata_only=settings.metadata_only,
        external_whole=settings.bootstrap_external_tables,
    )
    return Dumping(order, ports, settings)

"""Judge whether a dump can be loaded by a replica as it is: it continues it, or there is none yet."""

from dataclasses import replace

from twinhive.core.model.errors import ActNow, AlreadyThere, Foreign, Missing
from twinhive.core.model.marks import Phase, ReplicaState
from twinhive.core.model.next_steps import ONLY_IN_A_POLICY_FILE
from twinhive.core.model.policy import Policy
from twinhive.core.model.scopes.scope_texts import ANY_SCOPE, held_scope
from twinhive.core.ports import MetastoreReader
from twinhive.replication.dump.dump_layout import DumpKind
from twinhive.replication.dump.dump_remainder import is_still_to_apply, leads_away_from
from twinhive.replication.dump.manifest import DumpManifest, StatementSaid
from twinhive.replication.incremental.scope_check import replacing
from twinhive.replication.replica.replica_state import state_of
from twinhive.statements.steps.repl_dump_options import refuse_long_scope
from twinhive.statements.steps.repl_names import NAME_PREFIX
from twinhive.statements.steps.take_over import is_of_hive


def state_before(replica: MetastoreReader, policy: Policy, manifest: DumpManifest) -> ReplicaState:
    """Return what a replica says before a dump is loaded. Raises Foreign for a database that is not to be loaded.

    To a dump of events a replica that Hive made, or has brought further, is one that follows.
    """
    database = replica.database(policy.replica.database)
    state = ReplicaState.read(database.parameters if database else None)
    is_ours = state.policy in (None, policy.name) and state.log_id in (None, manifest.log_id)
    if manifest.kind is DumpKind.INCREMENTAL and is_ours and is_of_hive(database):
        return replace(state, phase=Phase.FOLLOWING)
    try:
        return state_of(database, policy, manifest.log_id)
    except Foreign as error:
        raise Foreign(
            f"database {policy.replica} is no replica that this statement can load",
            found=error.found,
            expected=error.expected,
            next_step=f"{_under_its_owner(state, policy)}load into another database (REPL LOAD "
            f"{policy.source.database} INTO ...), or drop this one if nobody needs it",
        ) from error


def _under_its_owner(state: ReplicaState, policy: Policy) -> str:
    if state.policy is None or state.policy == policy.name:
        return ""
    is_of_statements = state.policy.startswith(NAME_PREFIX)
    return "say it without a policy, " if is_of_statements else f"say it under policy {state.policy}, "


def refuse_unfit(
    state: ReplicaState, manifest: DumpManifest, key: str, policy: Policy, file_scope: str | None = None
) -> str | None:
    """Return a sentence when the replica has all of a dump, None when it is to be loaded.

    `file_scope` is what a policy file selects for this replica, None for one that no file has. Raises Missing,
    AlreadyThere or ActNow when it can never be loaded by this replica.
    """
    if manifest.kind is DumpKind.INCREMENTAL:
        already = _events(state, manifest, policy, file_scope)
    else:
        already = _objects(state, manifest, key, policy, file_scope)
    if not already:
        refuse_long_scope(manifest.statement.scope)
    return already


def refuse_overtaken(
    state: ReplicaState, manifest: DumpManifest, key: str, policy: Policy, file_scope: str | None
) -> None:
    """Judge a dump of events again, right before it is applied. Raises what `refuse_unfit` raises.

    Others may have brought the replica past it meanwhile: where nothing of it is missing that is no error.
    """
    if state.position.event_id <= manifest.end.event_id or not _lacks_nothing(state, manifest, file_scope):
        refuse_unfit(state, manifest, key, policy, file_scope)


def _lacks_nothing(state: ReplicaState, manifest: DumpManifest, file_scope: str | None) -> bool:
    """True for a replica that is past a dump when others have brought all that it would bring.

    What a file selects tells of no change of the scope: no window brings the tables.
    """
    said = manifest.statement
    if state.scope_before is not None:
        return False
    if said.replaces:
        return state.scope == said.scope
    held = state.scope or state.file_scope or file_scope
    return held in (None, said.scope) and not manifest.window.snapshots


def _objects(
    state: ReplicaState, manifest: DumpManifest, key: str, policy: Policy, file_scope: str | None
) -> str | None:
    if state.phase is not Phase.FOLLOWING:
        _refuse_begin_of_other_scope(manifest, policy, file_scope)
        return None
    if state.dump == key:
        return f"already loaded: the replica is at event {state.position.event_id}"
    raise AlreadyThere(
        f"database {policy.replica} is a replica already; this dump is of a whole database",
        found=f"a replica at event {state.position.event_id}",
        expected="no such database, or a load of this dump that was cut off",
        next_step=f"bring it further with REPL DUMP {manifest.statement.scope or policy.source.database} FROM "
        f"{state.position.event_id}; or load into another database (REPL LOAD ... INTO), or drop this one first",
    )


def _events(state: ReplicaState, manifest: DumpManifest, policy: Policy, file_scope: str | None) -> str | None:
    begin, end, position = manifest.begin.event_id, manifest.end.event_id, state.position.event_id
    if state.phase is Phase.ABSENT:
        raise Missing(
            f"there is no replica {policy.replica}; this dump holds events only",
            found="no such database",
            expected=f"a replica at event {begin}",
            next_step=f"load a whole database first: REPL DUMP {manifest.statement.scope or policy.source.database}",
        )
    if state.phase is Phase.LOADING:
        raise ActNow(
            f"the replica {policy.replica} is not loaded to its end",
            found=f"a load of dump {state.dump} that was cut off",
            expected=f"a replica at event {begin}",
            next_step="run the REPL LOAD of that dump again; then load this one",
        )
    _refuse_between_scopes(state, manifest, policy)
    if position > end or (position == end and not is_still_to_apply(state, manifest)):
        return _reached(state, manifest, policy, file_scope)
    if position < begin:
        raise ActNow(
            f"the replica {policy.replica} is not as far as this dump begins",
            found=f"the replica at event {position}",
            expected=f"event {begin} or later, before {end}",
            next_step=f"load the dump before this one, or dump the rest: {_rest(state, manifest, file_scope)}",
        )
    _refuse_other_scope(state, manifest, policy, file_scope)
    return None


def _rest(state: ReplicaState, manifest: DumpManifest, file_scope: str | None) -> str:
    """Return the statement that leads on to a dump's scope; from the replica's, where the dump is to leave one."""
    said, position = manifest.statement, state.position.event_id
    before = _left(state, said, file_scope)
    replaces = f" REPLACE {before}" if before not in (None, said.scope) else ""
    return f"REPL DUMP {said.scope}{replaces} FROM {position}"


def _left(state: ReplicaState, said: StatementSaid, file_scope: str | None) -> str | None:
    """Return the scope that such a statement leaves: of a replica between two what is there for certain."""
    named = said.replaces if said.replaces != ANY_SCOPE else state.file_scope or file_scope
    if state.scope_before is not None:
        return (named or None) if state.scope_before.startswith(ANY_SCOPE) else state.scope_before
    return (state.scope or named) if said.replaces else None


def _reached(state: ReplicaState, manifest: DumpManifest, policy: Policy, file_scope: str | None) -> str:
    end, position = manifest.end.event_id, state.position.event_id
    if position == end:
        return f"already loaded: the replica is at event {position}"
    raise ActNow(
        f"the replica {policy.replica} is ahead of this dump",
        found=f"the replica at event {position}",
        expected=f"event {manifest.begin.event_id} to {end}",
        next_step=f"nothing, if this is an old dump; else go on from there: {_rest(state, manifest, file_scope)}",
    )


def _refuse_begin_of_other_scope(manifest: DumpManifest, policy: Policy, file_scope: str | None) -> None:
    scope = manifest.statement.scope
    if file_scope in (None, scope):
        return
    raise ActNow(
        f"the replica {policy.replica} of policy {policy.name} cannot begin with this dump: it is of another scope",
        found=f"the dump: {scope}; the policy's file: {file_scope}",
        expected="one scope: events of other tables would be missing, or nobody would bring them",
        next_step=f"REPL DUMP {file_scope}, and load that; or correct tables.include and tables.exclude "
        + ONLY_IN_A_POLICY_FILE
        + "; or load without the policy, or into another database (REPL LOAD ... INTO)",
    )


def _refuse_between_scopes(state: ReplicaState, manifest: DumpManifest, policy: Policy) -> None:
    """Refuse what does not end a change of scope that was cut off: nobody knows which tables are there."""
    said = manifest.statement
    if state.scope is None or state.scope_before is None:
        return
    if said.scope == state.scope and state.scope_before in (
        held_scope(said.replaces),
        leads_away_from(policy, manifest),
    ):
        return
    statement = replacing(state.scope, state.scope_before, state)
    raise ActNow(
        f"the replica {policy.replica} is between two scopes: a REPL LOAD has not ended",
        found=f"the replica: {state.scope} REPLACE {state.scope_before}; the dump: {said.scope}"
        + (f" REPLACE {said.replaces}" if said.replaces else ""),
        expected="a dump of that change: until it is loaded tables may be missing",
        next_step="run that REPL LOAD again; "
        + (f"or {statement}, and load that; " if statement else "")
        + "or load into another database (REPL LOAD ... INTO), or drop this one first",
    )


def _refuse_other_scope(state: ReplicaState, manifest: DumpManifest, policy: Policy, file_scope: str | None) -> None:
    """Refuse events of another scope than the replica's: its mark's, else that of the file which it is of.

    Where DAGs alone have made it, the file as it was when they last brought it further; else as it is.

    Of a replica that Hive made nobody knows the scope: REPLACE, which names it, is believed.
    """
    said = manifest.statement
    before = said.replaces or said.scope
    held = state.scope or ((state.file_scope or file_scope) if state.policy or not said.replaces else None)
    if held is None or before in ("", ANY_SCOPE) or held in (before, said.scope):
        return
    position = state.position.event_id
    of_the_replica = "" if state.scope else f"REPL DUMP {held} FROM {position}; or, for another scope from now on, "
    raise ActNow(
        f"the replica {policy.replica} has another policy than this dump",
        found=f"the replica: {held}; the dump: {before}",
        expected="one policy, or a dump that says REPLACE with the replica's",
        next_step=f"{of_the_replica}REPL DUMP {said.scope} REPLACE {held} FROM {position}",
    )

"""Refuse a replica that a statement has brought to another scope: a window of its policy would not bring it all."""

from twinhive.core.model.errors import ActNow
from twinhive.core.model.marks import SCOPE, SCOPE_BEFORE, ReplicaState
from twinhive.core.model.next_steps import BOOTSTRAP_AGAIN, IN_THE_POLICY_FILE, command
from twinhive.core.model.policy import Policy
from twinhive.core.model.scopes.scope_texts import ANY_SCOPE, policy_scope
from twinhive.core.model.text import Text


def refuse_another_scope(policy: Policy, state: ReplicaState) -> None:
    """Raise ActNow for a replica whose mark says another scope, or two; one without it has never had another.

    What a statement loads has a scope of its own, which the load has judged.
    """
    if not policy.dump_directory and (error := of_another_scope(policy, state)) is not None:
        raise error


def of_another_scope(policy: Policy, state: ReplicaState) -> ActNow | None:
    """Return why no window of the policy goes on with a replica; None for one of the policy's own scope."""
    own = policy_scope(policy)
    if state.scope is not None and state.scope_before is not None:
        return _between_scopes(policy, state, state.scope, state.scope_before)
    if state.scope in (None, own):
        return None
    return ActNow(
        f"the replica {policy.replica} of policy {policy.name} was loaded with another scope than the policy's tables",
        found=f"{SCOPE} = {state.scope}",
        expected=f"{own}, as tables.include and tables.exclude say",
        next_step=_replacing(policy, own, state)
        + "correct tables.include and tables.exclude "
        + IN_THE_POLICY_FILE
        + "; or "
        + BOOTSTRAP_AGAIN,
    )


def missing_between_scopes(state: ReplicaState) -> str | None:
    """Return what may be missing on a replica between two scopes, in words; None for one of a single scope."""
    if state.scope is None or state.scope_before is None:
        return None
    alone = f"what is in one of {state.scope} and {state.scope_before} alone"
    which = f"any table of {state.scope}" if state.scope_before.startswith(ANY_SCOPE) else alone
    return f"may be missing: {which}; a REPL LOAD has not ended"


def replacing(scope: str, before: str, state: ReplicaState) -> str:
    """Return the statement that leads a replica from one scope to another; '' where none can be said."""
    if before.startswith(ANY_SCOPE) or before.partition(".")[0] != scope.partition(".")[0]:
        return ""
    return f"REPL DUMP {scope} REPLACE {before} FROM {state.position.event_id}"


def _between_scopes(policy: Policy, state: ReplicaState, scope: str, before: str) -> ActNow:
    return ActNow(
        f"the replica {policy.replica} of policy {policy.name} is between two scopes: a REPL LOAD has not ended",
        found=f"{SCOPE} = {scope}; {SCOPE_BEFORE} = {before}",
        expected="a REPL LOAD that has ended: until then tables may be missing",
        next_step="run that REPL LOAD again, under the policy; or "
        + _bring_with(policy, replacing(scope, before, state), "end it")
        + BOOTSTRAP_AGAIN,
    )


def _replacing(policy: Policy, own: str, state: ReplicaState) -> Text:
    """Return how to come to the policy's scope by a statement; from one of another database none leads there."""
    return _bring_with(policy, replacing(own, state.scope or own, state), "bring the replica to these tables")


def _bring_with(policy: Policy, statement: str, what: str) -> Text:
    if not statement:
        return ""
    return (
        f"{what} with: "
        + command("twinhive", "sql", statement, "--policy", policy.name)
        + " and a REPL LOAD of what that returns, under the policy too; or "
    )

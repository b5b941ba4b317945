"""Refuse a replica that a statement has brought to another scope: a window of its policy would not bring it all."""

from twinhive.model.errors import ActNow
from twinhive.model.marks import SCOPE, ReplicaState
from twinhive.model.next_steps import BOOTSTRAP_AGAIN, IN_THE_POLICY_FILE, command
from twinhive.model.policy import Policy
from twinhive.model.scopes.texts import policy_scope
from twinhive.model.text import Text


def refuse_another_scope(policy: Policy, state: ReplicaState) -> None:
    """Raise ActNow for a replica whose mark says another scope; one without the mark has never had another.

    What a statement loads has a scope of its own, which the load has judged.
    """
    own = policy_scope(policy)
    if policy.dump_directory or state.scope in (None, own):
        return
    raise ActNow(
        f"the replica {policy.replica} of policy {policy.name} was loaded with another scope than the policy's tables",
        found=f"{SCOPE} = {state.scope}",
        expected=f"{own}, as tables.include and tables.exclude say",
        next_step=_replacing(policy, own, state)
        + "correct tables.include and tables.exclude "
        + IN_THE_POLICY_FILE
        + "; or "
        + BOOTSTRAP_AGAIN,
    )


def _replacing(policy: Policy, own: str, state: ReplicaState) -> Text:
    """Return the statement that leads to the policy's scope; from one of another database none does."""
    held = state.scope or own
    if held.partition(".")[0] != own.partition(".")[0]:
        return ""
    statement = f"REPL DUMP {own} REPLACE {held} FROM {state.position.event_id}"
    return (
        "bring the replica to these tables with: "
        + command("twinhive", "sql", statement, "--policy", policy.name)
        + " and a REPL LOAD of what that returns, under the policy too; or "
    )

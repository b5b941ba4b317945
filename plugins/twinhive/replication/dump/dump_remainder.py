"""Judge what a replica that is at the last event of a statement's dump already still needs of it."""

from twinhive.core.model.marks import ReplicaState
from twinhive.core.model.policy import Policy
from twinhive.core.model.scopes.scope_texts import ANY_SCOPE, held_scope, scope_without
from twinhive.replication.dump.manifest import DumpManifest


def is_still_to_apply(state: ReplicaState, manifest: DumpManifest) -> bool:
    """True for a change of the policy that the replica does not know, and for tables that come whole without an event.

    So it is for a load that was cut off before all was there.

    Bringing those over once more does no harm; the position does not tell whether they were.
    """
    if manifest.statement.scope and state.scope_before is not None:
        return True
    if manifest.statement.replaces:
        return state.scope != manifest.statement.scope
    return bool(manifest.window.snapshots) and manifest.begin.event_id == manifest.end.event_id


def files_needed_after(state: ReplicaState, manifest: DumpManifest) -> int:
    """Return the event after which a replica needs a dump's files: tables that come whole are of the last event."""
    position = state.position.event_id
    return position - 1 if position == manifest.end.event_id and is_still_to_apply(state, manifest) else position


def leads_away_from(policy: Policy, manifest: DumpManifest) -> str | None:
    """Return from which scope the load of a statement's dump leads, None where each event leaves all tables whole."""
    said, whole = manifest.statement, manifest.window.snapshots
    replaced = held_scope(said.replaces) or None
    if not said.scope or not whole:
        return replaced
    # Also of REPLACE: besides what it newly selects, a rename may have brought in what both scopes select.
    without = scope_without(policy, whole)
    # Where it has not, the scope before says no less than a text that would be too long.
    return replaced if without.startswith(ANY_SCOPE) and said.only_new else without

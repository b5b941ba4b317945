"""Judge whether a statement's dump is still to be applied by a replica that is at its last event already."""

from twinhive.dump.manifest import DumpManifest
from twinhive.model.marks import ReplicaState


def is_still_to_apply(state: ReplicaState, manifest: DumpManifest) -> bool:
    """True for a change of the policy that the replica does not know, and for tables that come whole without an event.

    Bringing those over once more does no harm; the position does not tell whether they were.
    """
    if manifest.statement.replaces:
        return state.scope != manifest.statement.scope
    return bool(manifest.window.snapshots) and manifest.begin.event_id == manifest.end.event_id

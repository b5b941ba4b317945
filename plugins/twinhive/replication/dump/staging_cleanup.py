"""Remove from staging what a published replica does not need any more."""

from twinhive.core.directory_marks.staging import own_staging
from twinhive.core.model.files import base_name, join
from twinhive.core.model.policy import Policy
from twinhive.core.ports import FileWriter
from twinhive.transfer.staged.staged_files import event_directory, events_directory

NOT_CLEANED = "staging is not cleaned"
_OF_A_RUN = ("results", "tmp", "base", "tables", "windows")


def clean_staging(files: FileWriter, policy: Policy, event_id: int) -> None:
    """Remove staged files of events up to `event_id`, and what copies and loads have left.

    Only for a replica that is at that event with no window begun: nobody can need any of it. In a directory that
    nothing proves to be ours nothing is removed.
    """
    staging = own_staging(files, policy)
    if staging is None:
        return
    events, *others = files.list_directories(
        [events_directory(policy.staging), *(join(policy.staging, name) for name in _OF_A_RUN)]
    )
    last = base_name(event_directory(policy.staging, event_id))
    later = [child for child in events[1] or () if base_name(child.path) > last]
    if events[1] is not None and not later:
        staging.discard(events[0])
    for child in (events[1] or ()) if later else ():
        if child not in later:
            staging.discard(child.path)
    for directory, there in others:
        if there is not None:
            staging.discard(directory)

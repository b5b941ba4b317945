"""Stop copies of external data that are under way, where nobody is to change those directories any more.

Copies that begin later see under their lease that the replica has taken over (`copy_permission`).
"""

import time
from collections.abc import Callable, Iterator, Mapping

from twinhive.core.model.errors import TwinhiveError
from twinhive.core.model.lease_kinds import LeaseKind
from twinhive.core.model.policy import Policy
from twinhive.core.model.text import render
from twinhive.core.ports import WritePorts
from twinhive.replication.replica.sync_records import Synced
from twinhive.transfer.tree.executing import SETTLE_SECONDS
from twinhive.transfer.tree.tree_batches import stop_leftover_tasks
from twinhive.transfer.tree.work_directories import Places


def stop_copies(
    ports: WritePorts,
    policy: Policy,
    holder: Mapping[str, str],
    settle: Callable[[], None] = lambda: time.sleep(SETTLE_SECONDS),
) -> Iterator[str]:
    """Take the lease of each directory from a copy under way, which stops at its next change; yield what was stopped.

    Its tasks on other machines, which do not ask for the lease, lose what they have to do: `settle` waits for the last
    call of theirs. What cannot be stopped is said: it stops by itself when it looks at the replica next. A directory
    that was never copied as a whole is left out: its table is not there yet.
    """
    if not policy.external.brings_data:
        return
    for record in Synced(ports.replica_files, policy).records_but(()):
        places = Places(record.target, is_new=False)
        try:
            if ports.trees.lease.is_held(places.lease):
                with ports.trees.lease.hold(places.lease, dict(holder), LeaseKind.COPY):
                    stop_leftover_tasks(ports.trees.replica, places, settle)
                    yield f"stopped: a copy into {record.target}"
        except TwinhiveError as error:
            yield f"not stopped: a copy into {record.target}: {render(error.what)}"

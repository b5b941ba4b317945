"""Leave room in a pass for the copies of external tables: a window beside them holds fewer events (seed 001)."""

from dataclasses import replace

from twinhive.core.model.policy import Policy
from twinhive.core.ports import ReadPorts
from twinhive.replication.external_tables.bounded_pass import bounded_pass
from twinhive.replication.external_tables.list_external import copies_under_way


def beside_copies(ports: ReadPorts, policy: Policy) -> Policy:
    """Return the policy with as many events in a window as the copies that are under way leave of its bound.

    Of 200 tasks 7 copies leave 193 events. Without a bound, and for a policy that copies nothing, it is as it was.
    """
    options = policy.options
    if options.approx_max_load_tasks is None or not policy.external.brings_data:
        return policy
    copies = copies_under_way(ports, policy)
    share = bounded_pass(copies, options.window_events, options.approx_max_load_tasks, options.parallelism)
    return replace(policy, options=replace(options, window_events=share.events))

"""Show that a REPL LOAD is under way: who cleans sees it, even before there is a replica database.

It is a lease beside the one for writing, which is held only while the replica is changed: this one is held from before
the load says that it needs a dump until all is loaded, and it shows nothing but that its holder may live.
"""

from contextlib import AbstractContextManager

from twinhive.core.model.files import join
from twinhive.core.model.lease_kinds import LeaseKind
from twinhive.core.ports import Lease, WritePorts
from twinhive.core.step.step_base import Work


def under_way(ports: WritePorts, work: Work) -> AbstractContextManager[Lease]:
    """Be seen to load, for the length of the context."""
    return ports.trees.lease.hold(under_way_in(work.policy.staging), work.holder, LeaseKind.STATEMENT)


def under_way_in(staging: str) -> str:
    """Return where the lease of the load lies that works in a staging directory."""
    return join(staging, "under-way")

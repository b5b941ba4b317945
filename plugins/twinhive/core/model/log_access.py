"""Who we are to a metastore, and whether it lets us read its notification log."""

from dataclasses import dataclass

from twinhive.core.model.errors import Refused
from twinhive.core.model.text import Clear

GUARD = "metastore.metastore.event.db.notification.api.auth"
"""With this key the server lets only those read its log who may act for others from where they are (seed 002)."""
_OLD_GUARD = "hive.metastore.event.db.notification.api.auth"
HEEDS_NAMES = "metastore.execute.setugi"
"""Without this key the server does not listen to the names that it is told."""


@dataclass(frozen=True)
class Caller:
    """Whom a metastore takes us for: the name it was told (None: nothing was), and whether it listens to names."""

    told: str | None
    heeded: bool = True

    @property
    def name(self) -> str | None:
        """The user, None for the one that the server runs as, whom we do not know."""
        return self.told if self.heeded else None

    def __str__(self) -> str:
        if self.name:
            return self.name
        if self.told:
            return f"the one that it runs as: it was sent {self.told}, but its {HEEDS_NAMES} is false"
        return (
            "the one that it runs as: no user name was sent, neither metastore.user of the cluster nor its connection "
            "names one"
        )


@dataclass(frozen=True)
class LogAccess:
    """One address of a metastore at which the notification log can be read, up to its newest event."""

    address: str
    cluster: str
    caller: Caller
    newest_event: int

    def __str__(self) -> str:
        log = f"notification log: readable, newest event {self.newest_event}"
        return f"{_server(self.address, self.cluster)}: user to the metastore: {self.caller}; {log}"


def not_allowed(address: str, cluster: str, caller: Caller, answer: str) -> Refused:
    """Return the error of one address that does not let us read its log; `answer` is what it said."""
    user = caller.name or "<the user it runs as>"
    return Refused(
        f"{_server(address, cluster)} does not let us read its notification log; user to the metastore: {caller}",
        found=f"{answer}; {GUARD} is on, and the server's log has: User ... is not allowed to perform this API call",
        expected=f"hadoop.proxyuser.{user}.hosts that holds this machine, or the check switched off",
        next_step=f"set hadoop.proxyuser.{user}.hosts and hadoop.proxyuser.{user}.groups (* for all) in that server's "
        f"core-site.xml, or {GUARD}=false (old name {_OLD_GUARD}) in its metastore-site.xml; "
        "restart it, for it reads them once; then " + Clear("the task"),
    )


def _server(address: str, cluster: str) -> str:
    return f"the metastore {address} of cluster {cluster}" if cluster else f"the metastore {address}"

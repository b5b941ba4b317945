"""Name what people are told of: kinds of alerts, and how urgent each is."""

from collections.abc import Mapping
from enum import StrEnum


class Severity(StrEnum):
    """How soon somebody has to look."""

    ACT_NOW = "act_now"
    """Replication stands, or nobody would know if it did."""
    LOOK = "look"
    """Replication goes on, with something missing, or may go on by itself."""


class AlertKind(StrEnum):
    """What is wrong with a policy, or with all of them."""

    TROUBLE = "trouble"
    UNREACHABLE = "unreachable"
    LATE = "late"
    STOPPED = "stopped"
    FAILED = "failed"
    STALLED = "stalled"
    QUARANTINED = "quarantined"
    HELD = "held"
    EXTERNAL = "external"
    SPACE = "space"
    NO_POLICIES = "no_policies"
    UNKNOWN = "unknown"
    UNSHARED = "unshared"
    SILENT = "silent"
    UNTOLD = "untold"
    REMOTE = "remote"
    GATEWAY = "gateway"
    PUBLISHER = "publisher"
    UNSAID = "unsaid"

    @property
    def severity(self) -> Severity:
        """Return how urgent alerts of this kind are."""
        return ALERTS[self][0]


ALERTS: Mapping[AlertKind, tuple[Severity, str]] = {
    AlertKind.TROUBLE: (
        Severity.ACT_NOW,
        "the policy file cannot be used, the replica is somebody else's or gone, the log has a gap or is another one",
    ),
    AlertKind.UNREACHABLE: (Severity.ACT_NOW, "a server of it has not answered for two minutes"),
    AlertKind.LATE: (Severity.ACT_NOW, "the oldest event that is not applied is older than `max_lag`"),
    AlertKind.STOPPED: (Severity.ACT_NOW, "a task failed, and a person must act before it can go on"),
    AlertKind.FAILED: (
        Severity.LOOK,
        "a task failed, or was killed, and nothing has made up for it for `watch.failed_for`",
    ),
    AlertKind.STALLED: (
        Severity.ACT_NOW,
        "a task that copies is running, and has moved nothing for `watch.stalled_for`",
    ),
    AlertKind.QUARANTINED: (Severity.LOOK, "tables are frozen after an error"),
    AlertKind.HELD: (
        Severity.LOOK,
        "sets that are done at the source are held on the replica for longer than `watch.held_for`",
    ),
    AlertKind.EXTERNAL: (
        Severity.LOOK,
        "external tables wait for their data for longer than `watch.external_age`, or no pass over external data was "
        "complete for so long",
    ),
    AlertKind.SPACE: (Severity.LOOK, "the replica's file system has less room than `watch.free_bytes`"),
    AlertKind.NO_POLICIES: (Severity.ACT_NOW, "the configuration directory holds no policy at all"),
    AlertKind.UNKNOWN: (Severity.LOOK, "the journal cannot be read since ten minutes: what has failed is not known"),
    AlertKind.UNSHARED: (
        Severity.LOOK,
        "the journal is a file, and tasks run on several machines: what fails on others is not known",
    ),
    AlertKind.SILENT: (Severity.ACT_NOW, "`twinhive.monitor` has not looked at the policy for a quarter of an hour"),
    AlertKind.UNTOLD: (Severity.LOOK, "a message could not be sent"),
    AlertKind.REMOTE: (Severity.LOOK, "a remote has not answered a gateway for two minutes: its breaker is open"),
    AlertKind.GATEWAY: (
        Severity.ACT_NOW,
        "the status port of a gateway has not answered for two minutes, or `remotes.yaml` cannot be used",
    ),
    AlertKind.PUBLISHER: (
        Severity.ACT_NOW,
        "what happens on a cluster is not told for longer than `messages.max_silence`: its broker is down, or no "
        "publisher runs",
    ),
    AlertKind.UNSAID: (
        Severity.LOOK,
        "events were gone before they were told, within the last hour: listeners heard of a `GAP`",
    ),
}
"""How urgent each kind is, and what it says."""

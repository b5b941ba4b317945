"""What proves that a replica may take over, as a value: of which event, of which failover, and of which moment.

Tasks, machines and people hand it over to each other; who acts on it compares all of it under the lease. All times are
those of one clock, that of the replica's NameNode: what several machines believe is never compared.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from twinhive.core.model.changes.events import Position
from twinhive.core.model.errors import ActNow, TryAgain
from twinhive.core.model.failover.fence import QUOTA
from twinhive.core.model.files import join
from twinhive.core.model.human_readable import spoken_time
from twinhive.core.model.next_steps import RETRIES
from twinhive.core.model.policy import Policy
from twinhive.core.ports import FileWriter
from twinhive.operations.failover.fence.fencing import prove_again

PROVE_QUIET = "prove_quiet"
"""The task of the DAG <policy>.failover from which on all is proved again."""
OLD_SECONDS = 900.0
"""So long before the switch a comparison may have begun: what leaves no event may have been written since."""
OLD_BEHIND_QUOTA_SECONDS = 12 * 3600.0
"""The same behind a quota, which HDFS itself keeps and which is asked again: large databases are compared for hours."""


@dataclass(frozen=True)
class Proof:
    """What was found from one moment on: that the source stood still, or that both sides were equal.

    event      the source's newest event: nothing of the policy may come after it
    token      of the failover that had begun; who lets writers in makes it void
    began_ms   when that was begun, before its first question, in milliseconds since 1970
    """

    event: Position
    token: str
    began_ms: int

    def written(self) -> dict[str, Any]:
        """Return it as what tasks of Airflow hand over."""
        at = self.event
        said = {"event_id": at.event_id, "time": at.time, "digest": at.digest}
        return said | {"token": self.token, "began_ms": self.began_ms}

    @classmethod
    def read(cls, said: Mapping[str, Any]) -> "Proof | None":
        """Return what was handed over; None for what is no proof."""
        try:
            at = Position(int(said["event_id"]), int(said["time"]), str(said["digest"]))
            return cls(at, str(said["token"]), int(said["began_ms"]))
        except (KeyError, TypeError, ValueError):
            return None


def now_ms(files: FileWriter, policy: Policy) -> int:
    """Return what time it is at the replica's NameNode: it dates a file that is written now."""
    path = join(policy.staging, "control", "clock.json")
    files.write(path, b"{}")
    status = files.status(path)
    if status is None:
        raise TryAgain(
            f"the clock of the cluster of {policy.replica} cannot be read",
            found=f"{path} is gone again",
            expected="the file that was written a moment ago",
            next_step=RETRIES,
        )
    return status.modified_ms


def refuse_another_moment(policy: Policy, quiet: Proof, compared: Proof, now: int) -> None:
    """Refuse a comparison that is not of what was proved quiet, that was begun too long ago, or after now."""
    if (compared.event, compared.token) != (quiet.event, quiet.token) or compared.began_ms < quiet.began_ms:
        raise ActNow(
            f"policy {policy.name}: both sides were compared at another moment than the source was proved quiet",
            found=f"compared: {_told(compared)}; quiet: {_told(quiet)}",
            expected="a comparison that was begun after the source was quiet, at the same event of the same failover",
            next_step=prove_again(policy, PROVE_QUIET),
        )
    if max(quiet.began_ms, compared.began_ms) > now:
        raise ActNow(
            f"policy {policy.name}: a proof is of a time that has not come yet",
            found=f"compared: {_told(compared)}; quiet: {_told(quiet)}; now: {now} ms",
            expected="times before now: the clocks of the replica's NameNodes may differ",
            next_step="let its NameNodes have one time (NTP); " + prove_again(policy, PROVE_QUIET),
        )
    age, most = (now - compared.began_ms) / 1000, longest(policy)
    if age > most:
        raise ActNow(
            f"policy {policy.name}: the proof that both sides are equal is too old",
            found=f"their comparison was begun {spoken_time(age)} ago",
            expected=f"at most {spoken_time(most)}: what leaves no event may have been written since",
            next_step=_where_it_takes_longer(policy) + prove_again(policy, PROVE_QUIET),
        )


def longest(policy: Policy) -> float:
    """Return for how many seconds a comparison of a policy counts, from its beginning."""
    return OLD_BEHIND_QUOTA_SECONDS if QUOTA in policy.fence.rungs else OLD_SECONDS


def _where_it_takes_longer(policy: Policy) -> str:
    if QUOTA in policy.fence.rungs:
        return ""
    return "where comparing alone takes longer, set quota among failover.fence of the policy file; "


def _told(proof: Proof) -> str:
    return f"event {proof.event.event_id}, failover {proof.token or '(none)'}, begun at {proof.began_ms} ms"

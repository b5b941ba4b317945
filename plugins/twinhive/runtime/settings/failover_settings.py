"""What a policy file says of a failover: how writers are kept away from the source, and the way back."""

from typing import Annotated, Literal

from pydantic import Field

from twinhive.core.model.failover.fence import QUIET_SECONDS, FenceRules
from twinhive.runtime.settings.value_kinds import AbsolutePath, Strict, Unit


class ReverseSettings(Strict):
    """What is other in the policy of the opposite direction: where it writes, and what names a side."""

    dump_root: AbsolutePath = "/twinhive/dumps"
    """its dumps go to `<dump_root>/<policy>_back`. A path means its source, which is this policy's replica"""
    staging_root: AbsolutePath = "/twinhive/staging"
    """its staging is `<staging_root>/<policy>_back`, on the file system of this policy's source"""
    close_command: tuple[str, ...] = ()
    """its `close_command`: keeps writers away from its source, which is this policy's replica. `command` in the fence
    needs one in each direction"""
    open_command: tuple[str, ...] = ()
    """its `open_command`"""


class FailoverSettings(Strict):
    """How a replica takes over from its source (docs/failover.md)."""

    fence: tuple[Literal["quota", "command"], ...] = ()
    """how writers are kept away from the source before a planned failover proves that nobody writes, in this order.
    `quota`: no new file or directory below those of the database, by HDFS's quota of names; it takes HDFS's superuser.
    `command`: `close_command` is run. Without any, people keep writers away"""
    close_command: tuple[str, ...] = ()
    """the words of a command that keeps writers away: stops HiveServer2, takes rights away in Ranger. It runs without a
    shell where the task runs, may be run twice, and must end with 0 within ten minutes; 75 means: try again. It is told
    `TWINHIVE_POLICY`, `TWINHIVE_CLUSTER` and `TWINHIVE_DATABASE`"""
    open_command: tuple[str, ...] = ()
    """the words of the command that lets them in again, when a failover is aborted or the database becomes a replica"""
    quiet_seconds: Annotated[float, Field(ge=1, le=600), Unit("seconds")] = QUIET_SECONDS
    """so long the source must log nothing of the policy before its replica takes over, and an old primary before it
    becomes a replica: longer than the slowest writer takes from its last file to its event"""
    reverse: ReverseSettings | None = None
    """`{}` is enough, unless the fence has `command`: makes the policy `<policy>_back`, the same the other way round;
    external tables return to the paths that they came from. Its DAGs are there, paused; it does nothing, and nobody
    watches it, until `<policy>_back.failback` is run"""

    @property
    def rules(self) -> FenceRules:
        """Return how writers are kept away."""
        return FenceRules(tuple(dict.fromkeys(self.fence)), self.close_command, self.open_command)

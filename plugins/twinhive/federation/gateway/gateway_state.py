"""What all clients of one process share."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from twinhive.core.model.remotes.definitions import Definition, Definitions
from twinhive.core.threads.daemons import DaemonThreads
from twinhive.federation.gateway.fast_path.deadlines import Deadlines
from twinhive.federation.gateway.fast_path.read_plans import Plans
from twinhive.federation.gateway.gateway_metrics import CallCounts
from twinhive.federation.gateway.log_rate_limit import OneASecond
from twinhive.federation.gateway.metastore_links import LinkLimits, OpenLink
from twinhive.federation.gateway.remote_definitions.definition_cache import DefinitionCache
from twinhive.federation.gateway.remote_pool import RemotePool


@dataclass(frozen=True)
class Shared:
    """The local metastore, the remotes, and what is counted.

    gateway_id    tells gateways apart by their local metastore
    describe      what DESCRIBE of a remote says of the remote itself
    request_seconds  from a request's first byte to its last
    view_threads  read texts of views, and the names in large requests, which may take long
    """

    gateway_id: str
    local: OpenLink
    definitions: DefinitionCache[Definitions]
    remotes: RemotePool
    counts: CallCounts
    clock: Callable[[], float]
    describe: Callable[[Definition], Mapping[str, str]] = lambda definition: {}
    request_seconds: float = 60.0
    local_limits: LinkLimits = field(default_factory=lambda: LinkLimits(5.0, 600.0))
    deadlines: Deadlines = field(default_factory=Deadlines)
    view_threads: DaemonThreads = field(default_factory=lambda: DaemonThreads("views", 4))
    plans: Plans = field(init=False)
    not_answered: OneASecond = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "not_answered", OneASecond(self.clock))
        object.__setattr__(self, "plans", Plans(self.remotes.of, self.counts, self.clock))

"""Look at the publishers and brokers of all clusters that have one."""

from functools import partial

from twinhive.operations.monitoring.publishers import PublisherSeen, Told, look_at_publishers
from twinhive.runtime.settings import Configuration, Resolve
from twinhive.runtime.wiring.message_wiring import MessagesWiring


def measure_publishers(
    configuration: Configuration, resolve: Resolve, at: float, patience: float
) -> list[PublisherSeen]:
    """Return how what happens on clusters is told, of those whose settings name a broker. Raises nothing."""
    told = [
        Told(name, wiring.metastore, partial(_probe, wiring), wiring.databases, settings.messages.max_silence)
        for name, settings in configuration.clusters.items()
        if settings.messages.broker is not None
        for wiring in (MessagesWiring(configuration, name, resolve),)
    ]
    return look_at_publishers(told, at, patience)


def _probe(wiring: MessagesWiring) -> None:
    wiring.broker().probe()

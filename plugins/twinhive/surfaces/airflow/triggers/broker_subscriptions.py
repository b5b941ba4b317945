"""Be woken by a broker: whoever waits for a set need not ask for it every few seconds then."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from twinhive.core.model.messages.hive_message import AnnouncementKind
from twinhive.runtime.wiring.message_wiring import open_broker
from twinhive.surfaces.airflow.connections.airflow_connections import resolve_from_airflow
from twinhive.surfaces.airflow.triggers.broker_listener import Ear, Heard

_KINDS = (AnnouncementKind.SET_DONE.value, AnnouncementKind.GAP.value)


@dataclass(frozen=True)
class Hearing:
    """Where it is told that a set is done: a connection to a broker, and a topic with those below it."""

    connection: str
    topic: str


class Hearings:
    """What those who look at one metastore are told by brokers: one subscription for all that hear the same.

    Messages only wake: `wake` is called for each, and whenever it is listened anew or the broker is lost. The metastore
    says what is true.
    """

    def __init__(self, wake: Callable[[], object]) -> None:
        self._wake = wake
        self._lookers: Counter[Hearing | None] = Counter()
        self._ears: dict[Hearing, Ear] = {}
        self._heard: set[Hearing] = set()

    def come(self, hearing: Hearing | None) -> None:
        """Take in one who looks; None: nothing tells him."""
        self._lookers[hearing] += 1
        if hearing is not None and hearing not in self._ears:
            opened = partial(open_broker, hearing.connection, resolve_from_airflow)
            self._ears[hearing] = Ear(opened, [hearing.topic], _KINDS, partial(self._tell, hearing))

    def go(self, hearing: Hearing | None) -> None:
        """Let one go who looked; the last one of a topic takes its subscription along."""
        self._lookers[hearing] -= 1
        if hearing is not None and not self._lookers[hearing]:
            self._ears.pop(hearing).leave()
            self._heard.discard(hearing)

    @property
    def all_are_told(self) -> bool:
        """True while a broker tells each of those who look."""
        return self._heard.issuperset(+self._lookers)

    def _tell(self, hearing: Hearing, heard: Heard) -> None:
        if hearing not in self._ears:
            return
        if heard is None:
            self._heard.discard(hearing)
        else:
            self._heard.add(hearing)
        self._wake()

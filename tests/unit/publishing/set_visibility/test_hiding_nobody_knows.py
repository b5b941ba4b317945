"""A window waits with what a set promises: for an answer that nobody knows its sets are hidden by the next try."""

from typing import Any

import pytest

from tests.support.worlds.memory_comparison import contents
from tests.unit.publishing.set_visibility.test_shown_sets import Producer
from twinhive.core.model.errors import Unexplained
from twinhive.core.step.step_base import Work
from twinhive.publishing.set_visibility.show_sets import ShowSets
from twinhive.runtime.pipeline.phases import APPLY, INCREMENTAL


def at_replica(producer: Producer) -> dict[str, Any]:
    return contents(producer.world.replica, producer.world.replica_files)


def test_no_event_is_applied_before_the_last_try(monkeypatch: pytest.MonkeyPatch) -> None:
    def answer_oddly(showing: ShowSets) -> None:
        raise Unexplained("dropping a mark: refused")

    producer = Producer()
    producer.mark("p=a b")
    producer.follow()
    producer.unmark("p=a b")
    producer.users.insert("orders", ("a b",), [b"other"])
    ports = producer.world.ports()
    dump = producer.run_with(ports, INCREMENTAL[:2])["window"].dump

    before = at_replica(producer)

    def apply(*, is_last_try: bool) -> None:
        APPLY(Work(producer.policy, dump=dump, holder={"run": "i"}, is_last_try=is_last_try)).run(ports)

    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(ShowSets, "hide_unmarked", answer_oddly)
        with pytest.raises(Unexplained, match="dropping a mark"):
            apply(is_last_try=False)
    assert at_replica(producer) == before
    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(ShowSets, "hide_unmarked", answer_oddly)
        apply(is_last_try=True)
    producer.follow()
    assert producer.shown == []

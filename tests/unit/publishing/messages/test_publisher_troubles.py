"""What may pass ends no publisher: also not an answer of the metastore that nobody knows."""

import threading
from typing import Any

import pytest

from twinhive.core.model.errors import ActNow, TwinhiveError, Unexplained, Unreachable
from twinhive.publishing.messages.publishing_messages import Publisher, run_publisher


class OddPublisher:
    """Meets trouble in its first round, and when it leaves."""

    def __init__(self, trouble: TwinhiveError) -> None:
        self.trouble = trouble
        self.rounds = 0
        self.has_left = False

    def round(self, is_over: Any) -> None:
        self.rounds += 1
        if self.rounds == 1:
            raise self.trouble

    def leave(self) -> None:
        self.has_left = True
        raise self.trouble


def published(publisher: Any) -> list[TwinhiveError | None]:
    """Publish up to the first round that is well; return what was heard of each round."""
    made: Publisher = publisher
    heard: list[TwinhiveError | None] = []
    stop = threading.Event()

    def hear(trouble: TwinhiveError | None) -> None:
        heard.append(trouble)
        if trouble is None:
            stop.set()

    run_publisher(made, stop, 0.0, hear)
    return heard


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("twinhive.publishing.messages.publishing_messages._SHORTEST_PAUSE", 0.0)


@pytest.mark.parametrize("trouble", [Unexplained("MetaException(Broken pipe)"), Unreachable("no answer")])
def test_it_goes_on_and_leaves(trouble: TwinhiveError) -> None:
    publisher = OddPublisher(trouble)
    assert published(publisher) == [trouble, None]
    assert publisher.has_left


def test_what_a_person_must_mend_ends_it() -> None:
    with pytest.raises(ActNow):
        published(OddPublisher(ActNow("the broker refuses us")))

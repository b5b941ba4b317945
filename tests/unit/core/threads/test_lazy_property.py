"""A property that is computed once, and for which no thread waits while another one asks a silent server."""

import threading
from pathlib import Path

from twinhive.core.threads.lazy_property import lazy_property

PACKAGE = Path(__file__).parents[4] / "plugins" / "twinhive"
WITHOUT_SERVERS = ("core/model/", "statements/language/", "core/threads/lazy_property.py")


class Server:
    """Answers when it is let; `asked` counts the questions."""

    def __init__(self) -> None:
        self.answers, self.is_asked, self.asked = threading.Event(), threading.Event(), 0

    @lazy_property
    def answer(self) -> int:
        """What it says."""
        self.asked += 1
        self.is_asked.set()
        self.answers.wait()
        return self.asked


def test_it_is_computed_once_for_each_instance() -> None:
    first, second = Server(), Server()
    for one in first, second:
        one.answers.set()
        assert (one.answer, one.answer, one.asked) == (1, 1, 1)


def test_who_asks_one_server_does_not_wait_for_another() -> None:
    silent, other = Server(), Server()
    other.answers.set()
    waiting = threading.Thread(target=lambda: silent.answer, daemon=True)
    waiting.start()
    assert silent.is_asked.wait(60)
    answered = threading.Thread(target=lambda: other.answer, daemon=True)
    answered.start()
    answered.join(60)
    assert not answered.is_alive()
    silent.answers.set()
    waiting.join(60)


def test_nothing_that_may_ask_a_server_is_cached_under_a_lock() -> None:
    paths = (path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.py"))
    others = [path for path in paths if not path.startswith(WITHOUT_SERVERS)]
    assert [path for path in others if "cached_property" in (PACKAGE / path).read_text(encoding="utf-8")] == []

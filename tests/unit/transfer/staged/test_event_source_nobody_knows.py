"""A place of an event's file that gave an answer that nobody knows may have the file: it is looked at again."""

import pytest

from tests.unit.transfer.staged.test_event_source import CMROOT, COPIED, PATH, RENAMED, Guarded, Restless, World
from twinhive.core.model.errors import TryAgain, Unexplained
from twinhive.transfer.engine.failure_kind import FailureKind
from twinhive.transfer.staged.batch_result import failed_copy


def answers_oddly(monkeypatch: pytest.MonkeyPatch, world: World, call: str, path: str = PATH) -> None:
    asked = getattr(world.source, call)

    def answer(at: str, *more: object) -> object:
        if at == path:
            raise Unexplained(f"{at}: refused", found="Odd: hm", expected="an answer", next_step="see the log")
        return asked(at, *more)

    monkeypatch.setattr(world.source, call, answer)


@pytest.mark.parametrize("call", ["status", "checksum"])
@pytest.mark.parametrize("source", [Restless, Guarded])
def test_it_is_tried_again(monkeypatch: pytest.MonkeyPatch, call: str, source: type[Restless]) -> None:
    world = World()
    world.source = source("hdfs://east")
    world.source.make_directories(CMROOT)
    world.written(PATH, b"rows of event 217", 217)
    with monkeypatch.context() as meanwhile:
        answers_oddly(meanwhile, world, call)
        outcome = world.copy()
        [failure] = outcome.failures
        assert failure.kind is FailureKind.UNEXPLAINED
        assert f"{PATH}: it could not be looked at" in failure.reason and "Odd: hm" in failure.reason
        assert f"{PATH}: it may not be read" not in failure.reason
        assert isinstance(failed_copy("batch 1", outcome, "mend it"), TryAgain)
    assert world.copy() == COPIED


def test_it_does_not_hide_the_other_places(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World()
    answers_oddly(monkeypatch, world, "status")
    world.move(RENAMED)
    assert world.copy() == COPIED

"""Staging whose mark is read with an answer that nobody knows: after the last try it is left, and said."""

import pytest

from tests.unit.operations.failover.test_failover import position
from tests.unit.replication.incremental.test_incremental import Followed
from twinhive.core.directory_marks.directories import ATTRIBUTE
from twinhive.core.model.errors import Unexplained
from twinhive.core.step.step_base import Work
from twinhive.runtime.pipeline.phases import APPLY, INCREMENTAL, WINDOW

SAID = "staging is not cleaned, the next run does it"


def odd_marks(followed: Followed, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let nobody know what marks the directories of the replica bear."""
    files = followed.world.replica_files
    original = files.attribute

    def oddly(path: str, name: str) -> str | None:
        if name == ATTRIBUTE:
            raise Unexplained(f"{path}: refused", found="RemoteException: Odd")
        return original(path, name)

    monkeypatch.setattr(files, "attribute", oddly)


def staged(followed: Followed) -> bool:
    return followed.world.replica_files.status(f"{followed.policy.staging}/results") is not None


def a_window(followed: Followed) -> str:
    """Plan and copy a window; return its dump."""
    dump = followed.run_with(followed.world.ports(), INCREMENTAL[:2])["window"].dump
    assert dump is not None
    return str(dump)


def work(followed: Followed, *, is_last_try: bool, dump: str = "") -> Work:
    return Work(followed.policy, dump=dump, holder={"run": "i"}, report=followed.say, is_last_try=is_last_try)


@pytest.mark.parametrize("is_last_try", [False, True])
def test_an_apply_leaves_its_copies_on_its_last_try(is_last_try: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    followed = Followed()
    followed.users.insert("plain", None, [b"more"])
    dump = a_window(followed)
    step = APPLY(work(followed, is_last_try=is_last_try, dump=dump))
    with monkeypatch.context() as meanwhile:
        odd_marks(followed, meanwhile)
        if is_last_try:
            step.run(followed.world.ports())
        else:
            with pytest.raises(Unexplained):
                step.run(followed.world.ports())
    assert any(line.startswith(SAID) for line in followed.log) == is_last_try
    assert position(followed) == followed.world.source.current_event_id() and staged(followed)
    followed.follow()
    followed.assert_twin()


@pytest.mark.parametrize("is_last_try", [False, True])
def test_a_run_without_a_window_leaves_them_too(is_last_try: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    followed = Followed()
    step = WINDOW(work(followed, is_last_try=is_last_try))
    with monkeypatch.context() as meanwhile:
        odd_marks(followed, meanwhile)
        if is_last_try:
            assert step.run(followed.world.ports()).already
        else:
            with pytest.raises(Unexplained):
                step.run(followed.world.ports())
    assert any(line.startswith(SAID) for line in followed.log) == is_last_try

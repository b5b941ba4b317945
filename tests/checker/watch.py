"""See the replica after every single call that changes it."""

import threading
from collections.abc import Callable
from typing import Any

from tests.checker.judge import Judge
from tests.checker.states import Viewer
from tests.fake_world import Killable
from twinhive.domain.files import is_below
from twinhive.domain.marks import Phase, ReplicaState


class Watcher:
    """Show a judge the replica, as soon as it says that it follows its source."""

    def __init__(self, viewer: Viewer, judge: Judge, staging: str, *, every_call: bool = True) -> None:
        self._every_call = every_call
        self._viewer = viewer
        self._judge = judge
        self._staging = staging
        self._lock = threading.RLock()

    def call(self, name: str, effect: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Carry one call out and look, with nobody else in between."""
        with self._lock:
            try:
                return effect(*args, **kwargs)
            finally:
                if self._every_call and not self._is_about_staging(args):
                    self.look(f"{name} {_told(args)}")

    def look(self, when: str = "") -> None:
        """Look now."""
        parameters = self._viewer.parameters()
        state = ReplicaState.read(parameters)
        if state.phase is Phase.FOLLOWING:
            self._judge.see(state.position.event_id, self._viewer.state(), when)

    def _is_about_staging(self, args: tuple[Any, ...]) -> bool:
        """True for a change of files that no reader of tables can see."""
        paths = [arg for arg in args if isinstance(arg, str) and "://" in arg]
        return bool(paths) and all(is_below(path, self._staging) for path in paths)


class Watched:
    """Pass calls on to a port of the replica; changes are seen by a watcher."""

    def __init__(self, port: Any, watcher: Watcher) -> None:
        self._port = port
        self._watcher = watcher

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._port, name)
        if name not in Killable.CHANGES:
            return value
        return lambda *args, **kwargs: self._watcher.call(name, value, *args, **kwargs)


def _told(args: tuple[Any, ...]) -> str:
    return " ".join(str(getattr(arg, "name", arg))[:160] for arg in args[:2])

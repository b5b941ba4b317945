"""See which modules of the package a run enters, and how often it goes from one folder to another."""

import sys
import threading
from collections.abc import Callable
from types import FrameType

import twinhive
from tests.support.hdfs import fake_lease
from tests.support.hive import fake_metastore
from tests.unit.test_layers import folder_of

_PACKAGE = f"{twinhive.__name__}."
_FAKES = tuple(f"{fake.__name__.rpartition('.')[0]}." for fake in (fake_lease, fake_metastore))


class Entered:
    """What a run has entered, in any of its threads.

    modules  the modules of which a function was called: `core/model/names`
    climbs   how often it went to a folder further down in the table of layers, by a call or by a return. A call into
             another folder does so once, on the way there or on the way back; so does a generator for each item
    """

    def __init__(self) -> None:
        self.modules: set[str] = set()
        self.climbs = 0

    @property
    def folders(self) -> set[str]:
        """Return the rows of the table of layers that the modules are in."""
        return {part for part in map(folder_of, self.modules) if part}

    def counts(self) -> dict[str, int]:
        """Return what is kept of it."""
        return {"modules": len(self.modules), "folders": len(self.folders), "climbs": self.climbs}


def entered(run: Callable[[], object]) -> Entered:
    """Run something, and return what it has entered. What fakes of clusters call for themselves is left out."""
    profile = _Profile()
    before = sys.getprofile(), threading.getprofile()
    threading.setprofile(profile)
    sys.setprofile(profile)
    try:
        run()
    finally:
        sys.setprofile(before[0])
        threading.setprofile(before[1])
    return profile.entered


class _Profile:
    """Be called by Python at each call and return of a function."""

    def __init__(self) -> None:
        self.entered = Entered()
        self._lock = threading.Lock()
        self._thread = threading.local()

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        if event not in ("call", "return"):
            return
        if _module(frame).startswith(_FAKES):
            self._thread.fakes = self._fakes + (1 if event == "call" else -1)
        elif event == "call" and not self._fakes and (name := _name(frame)):
            caller = _caller(frame)
            with self._lock:
                self.entered.modules.add(name)
                self.entered.climbs += bool(caller) and folder_of(caller) != folder_of(name)

    @property
    def _fakes(self) -> int:
        """How many functions of fakes this thread is in."""
        return getattr(self._thread, "fakes", 0)


def _caller(frame: FrameType) -> str:
    """Return the name of the package's module that has called, '' for none."""
    caller = frame.f_back
    while caller is not None:
        if name := _name(caller):
            return name
        caller = caller.f_back
    return ""


def _name(frame: FrameType) -> str:
    """Return the name of a frame's module below the package, `core/model/names`; '' for a module of others.

    What Python itself writes for a dataclass is in no file, and nobody reads it: '' for that, too.
    """
    module = _module(frame)
    is_ours = module.startswith(_PACKAGE) and frame.f_code.co_filename.endswith(".py")
    return module.removeprefix(_PACKAGE).replace(".", "/") if is_ours else ""


def _module(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", ""))

"""Keep Java's handler of SIGSEGV in place.

Java stops its threads by letting them touch a protected page: its own handler of SIGSEGV is part of how
it works. Airflow installs a handler of Python's for that signal whenever it parses a DAG file, and one
that returns without doing anything makes Java touch the page for ever, at full speed and without a word.
"""

import ctypes
import signal
from _signal import getsignal  # type: ignore[import-not-found]  # the public one makes an enumeration's member of each answer, which takes long

# Larger than `struct sigaction` of any system; what is in it is only ever handed back.
_java_handler = ctypes.create_string_buffer(512)
_library = ctypes.CDLL(None, use_errno=True)


def remember_java_handler() -> None:
    """Note the handler that Java has just installed."""
    _library.sigaction(signal.SIGSEGV, None, _java_handler)


def restore_java_handler() -> None:
    """Put Java's handler back if Python code has replaced it; cheap when it has not."""
    if callable(getsignal(signal.SIGSEGV)):
        _library.sigaction(signal.SIGSEGV, _java_handler, None)

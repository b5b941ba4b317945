"""Java needs SIGSEGV to stop its threads; Airflow takes the signal away whenever it parses a DAG file."""

import os
import subprocess
import sys
from pathlib import Path

import twinhive

_SCRIPT = """
import os, signal, threading
from twinhive.hive.adapters.jvm.java_vm import java_class, start
start()
signal.signal(signal.SIGSEGV, lambda number, frame: None)
number = java_class("java.math.BigInteger").valueOf(3)
work = threading.Thread(target=lambda: number.pow(2_000_000))
work.start()
collect = java_class("java.lang.System").gc
while work.is_alive():
    collect()
print("alive", flush=True)
os._exit(0)
"""


def test_java_goes_on_after_another_library_has_taken_its_signal() -> None:
    """Without its handler the computing thread touches Java's protected page for ever, and the test times out."""
    environment = {**os.environ, "PYTHONPATH": str(Path(twinhive.__file__).parents[1])}
    done = subprocess.run(
        [sys.executable, "-c", _SCRIPT], env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stdout == "alive\n", done.stderr

"""Check what the machine must have, before anything is installed: standard library only."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

# A virtual environment of 1.4 GB, jars of 0.3 GB, two clusters with their logs and data. The places
# are those of sandbox/paths.py, which cannot be imported before anything is installed.
_CACHE = Path(os.environ.get("TWINHIVE_CACHE") or os.environ.get("XDG_CACHE_HOME") or Path.home())
_STATE = Path(os.environ.get("TWINHIVE_STATE") or ("/var/lib" if os.geteuid() == 0 else Path.home()))
_NEEDED = {
    "the checkout": (Path.cwd(), 2.0),
    "the cache directory": (_CACHE, 1.0),
    "the state directory": (_STATE, 2.0),
}


def problems() -> list[str]:
    """Return everything that is missing, one sentence each."""
    found = []
    if sys.version_info[:2] != (3, 11):
        version = ".".join(map(str, sys.version_info[:2]))
        found.append(f"Python 3.11 is needed, this is {version} (say make PYTHON=/path/to/python3.11)")
    for module in ("venv", "ensurepip"):
        if not _importable(module):
            found.append(f"Python's module {module} is missing (Debian: apt install python3.11-venv)")
    found += [f"{tool} is not on PATH" for tool in ("git", "make", "bash") if not shutil.which(tool)]
    java = _java_major()
    if java is None or java < 17:
        found.append(
            f"Java 17 or newer is needed for Spark, found {java or 'none'} "
            "(Debian: apt install openjdk-17-jre-headless; or set JAVA_HOME)"
        )
    for name, (path, gigabytes) in _NEEDED.items():
        existing = next(place for place in (path.absolute(), *path.absolute().parents) if place.exists())
        free = shutil.disk_usage(existing).free / 2**30
        if free < gigabytes:
            found.append(f"{gigabytes:.0f} GiB of free disk space are needed in {name} ({path}), found {free:.1f}")
    return found


def _importable(module: str) -> bool:
    try:
        __import__(module)
    except ImportError:
        return False
    return True


def _java_major() -> int | None:
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home, "bin", "java")) if home else shutil.which("java")
    try:
        answer = subprocess.run([java or "java", "-version"], capture_output=True, text=True, check=False).stderr
    except OSError:
        return None
    version = re.search(r'version "(\d+)', answer)
    return int(version[1]) if version else None


def main() -> int:
    """Print all that is missing in one message."""
    found = problems()
    if found:
        print("This machine cannot run Twinhive yet:", *(f"  - {problem}" for problem in found), sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

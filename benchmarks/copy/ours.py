"""Our side: the command `twinhive copy`, as a process of its own."""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from sandbox.jvm.java import spark_java_home
from sandbox.paths import CHECKOUT
from sandbox.running.processes import server_environment

_COMMAND_LINES = {"surfaces/cli/app.py": "twinhive.surfaces.cli.app", "cli/app.py": "twinhive.cli.app"}
"""The module of the command `twinhive`, by where a checkout of now or of before has it."""


def copy_tree(
    source_uri: str,
    target_uri: str,
    threads: int,
    properties: Mapping[str, str],
    user: str,
    options: Sequence[str] = (),
    checkout: Path = CHECKOUT,
) -> None:
    """Make the target equal to the source; `options` are further ones of the command of a `checkout`."""
    settings = [part for key, value in properties.items() for part in ("-D", f"{key}={value}")]
    layout = next(path for path in _COMMAND_LINES if Path(checkout, "plugins/twinhive", path).exists())
    command = [sys.executable, "-m", _COMMAND_LINES[layout], "copy", source_uri, target_uri]
    command += ["--threads", str(threads), "--user", user, *options, *settings]
    paths = os.pathsep.join([str(checkout / "plugins"), str(checkout)])
    environment = server_environment({"PYTHONPATH": paths, "JAVA_HOME": str(spark_java_home())})
    done = subprocess.run(command, cwd=checkout, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"twinhive copy ended with code {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")

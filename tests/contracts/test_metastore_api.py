"""The committed table of methods is what the server's own jar gives."""

import subprocess
import sys

from twinhive.wire.table import TABLE


def test_the_table_of_methods_is_what_the_servers_jar_gives() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "sandbox.metastore_api", "--print"],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == TABLE.read_text(encoding="utf-8"), f"python -m sandbox.metastore_api writes {TABLE.name}"

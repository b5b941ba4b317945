"""After `make demo`: what else there is, chapter by chapter; each command is shown before it is run.

`python -m demo.tour` walks through all chapters, `python -m demo.tour remotes` through one. The last five go on where
the one before has ended: `failover`, `writes`, `failback`, `home`, `twin`.
"""

import os
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from demo.many_clusters import clusters
from demo.names import DATABASE
from demo.remote_join import CARRIERS, REMOTE
from demo.set_days import sets
from demo.showing import gateway, look, run, say, title
from demo.switching import failback, failover, home, twin, writes
from sandbox import Sandbox
from sandbox.ports import free_ports


def main(chapters: list[str]) -> int:
    """Walk through the chapters that are named, or all."""
    if unknown := [name for name in chapters if name not in CHAPTERS]:
        say(f"there is no chapter {', '.join(unknown)}; there are: {', '.join(CHAPTERS)}")
        return 2
    box = Sandbox.open()
    if not box.is_running("airflow"):
        say("no demo is running, whose clusters and Airflow the tour walks through: start it with `make demo`")
        return 2
    box.up()
    # The commands that are shown are those of this environment, also where it is not on PATH.
    own = str(Path(sys.executable).parent)
    os.environ.update(box.environment(), PATH=os.pathsep.join([own, os.environ.get("PATH", os.defpath)]))
    for name in chapters or CHAPTERS:
        began = time.monotonic()
        CHAPTERS[name](box)
        say(f"[dim]chapter {name}: {time.monotonic() - began:.0f} s[/]\n")
    return 0


def remotes(box: Sandbox) -> None:
    """Read west's tables from east, under local names, and join them with east's own."""
    title("Remotes: read another metastore's tables under local names, without copying them")
    port, status = free_ports(2)
    west = box.clusters["west"]
    uris = f"'hive.metastore.uris' = 'thrift://{west.metastore_host}:{west.metastore_port}'"
    database = f"CREATE REMOTE DATABASE IF NOT EXISTS {REMOTE} CONNECTED TO {DATABASE} WITH DBPROPERTIES ({uris})"
    table = f"CREATE REMOTE TABLE IF NOT EXISTS {CARRIERS} CONNECTED TO {DATABASE}.airlines WITH TBLPROPERTIES ({uris})"
    with gateway("--cluster", "east", "--port", str(port), "--status-port", str(status), port=port):
        run("twinhive", "sql", "--cluster", "east", f"{database}; {table}")
        look("what each stands for, and whether it answers:")
        run("twinhive", "remotes", "--cluster", "east")
        look("Spark asks the gateway as if it were east's metastore; the files are read where they are:")
        run(sys.executable, "-m", "demo.remote_join", str(port))
        look("what the gateway was asked, and by whom it had it answered:")
        run("curl", "-s", f"http://127.0.0.1:{status}/metrics", only="twinhive_gateway_calls_total")
    look("both are dropped again; nothing happens on west:")
    run("twinhive", "sql", "--cluster", "east", f"DROP REMOTE TABLE {CARRIERS}; DROP REMOTE DATABASE {REMOTE}")
    look("more: docs/remotes.md")


CHAPTERS: Mapping[str, Callable[[Sandbox], None]] = {
    "sets": sets,
    "remotes": remotes,
    "clusters": clusters,
    "failover": failover,
    "writes": writes,
    "failback": failback,
    "home": home,
    "twin": twin,
}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

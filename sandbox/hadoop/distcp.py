"""Run Hadoop's own DistCp, to compare Twinhive's copying with it."""

import os
import re
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Literal

from sandbox.box import Sandbox
from sandbox.configuration import write_job_site_files
from sandbox.hadoop.job_history import MapPhase, map_phase
from sandbox.jvm.java import SERVER_FLAGS, spark_java
from sandbox.jvm.logging_setup import log4j2_flags, write_log4j2
from sandbox.running.processes import server_environment

Runner = Literal["yarn", "local"]
UNLIMITED = ("-bandwidth", "1000000")
"""Arguments that lift DistCp's limit, which is 100 MB/s for each map."""
_COUNTER = re.compile(r"^\t\t([^=\t]+)=(\d+)$")
_SETTINGS = {
    # Equal for equal content, whatever the block sizes; ours compares by it too.
    "dfs.checksum.combine.mode": "COMPOSITE_CRC",
}


@dataclass(frozen=True)
class DistCpRun:
    """Tell how one run went."""

    code: int
    """DistCp's exit code: 0 is success."""
    seconds: float
    """Wall time of the whole command."""
    counters: dict[str, int]
    """DistCp's own counters by their printed names, such as `Files Copied`."""
    maps: MapPhase | None
    """When the maps worked; not known of the local runner."""
    log: Path


def run_distcp(
    box: Sandbox, cluster: str, arguments: Sequence[str], runner: Runner = "yarn", maps: int | None = None
) -> DistCpRun:
    """Run DistCp as a client of `cluster`, with at most `maps` maps at once (20 by default).

    `yarn` needs the server `yarn-nodemanager`. `local` has one map whatever `maps` says. Either copies at most 100 MB/s
    per map unless the arguments hold `UNLIMITED`.
    """
    configuration = box.layout.configuration / f"distcp-{cluster}"
    hadoop = {**box.clusters[cluster].hadoop_properties, **_SETTINGS}
    jobs = box.job_properties if runner == "yarn" else {"mapreduce.framework.name": "local"}
    hadoop["hadoop.tmp.dir"] = str(box.layout.temporary / "distcp")
    write_job_site_files(configuration, hadoop, jobs)
    classes = [box.yarn_classes] if runner == "yarn" else box.ensured_jars()
    log = box.layout.log_file("distcp")
    log.unlink(missing_ok=True)
    command = [*_java(configuration, log, box.layout.temporary), "org.apache.hadoop.tools.DistCp"]
    command += with_maps(arguments, maps)
    class_path = os.pathsep.join(str(entry) for entry in [configuration, *classes])
    environment = server_environment({"CLASSPATH": class_path, "HADOOP_USER_NAME": box.clusters[cluster].user})
    began = time.monotonic()
    with box.layout.output_file("distcp").open("w") as output:
        done = subprocess.run(command, env=environment, stdout=output, stderr=subprocess.STDOUT, check=False)
    seconds = time.monotonic() - began
    said = log.read_text(errors="replace") if log.exists() else ""
    job = re.search(r"DistCp job-id: (job_\d+_\d+)", said)
    phase = map_phase(box, job[1]) if job and runner == "yarn" else None
    return DistCpRun(done.returncode, seconds, parsed_counters(said), phase, log)


def with_maps(arguments: Sequence[str], maps: int | None) -> list[str]:
    """Put the limit where DistCp reads it: behind Hadoop's settings, before its own arguments."""
    settings = list(takewhile(lambda argument: argument.startswith("-D"), arguments))
    limit = [] if maps is None else ["-m", str(maps)]
    return [*settings, *limit, *arguments[len(settings) :]]


def _java(configuration: Path, log: Path, temporary: Path) -> list[str]:
    settings = configuration / "log4j2.properties"
    write_log4j2(settings, log)
    flags = [*SERVER_FLAGS, *log4j2_flags(settings), "-Xmx512m", f"-Djava.io.tmpdir={temporary}"]
    return [str(spark_java()), *flags]


def parsed_counters(said: str) -> dict[str, int]:
    """Read the counters that DistCp's client prints below its heading when the job is done."""
    lines = iter(said.partition("DistCp Counters\n")[2].splitlines())
    found = {}
    for line in lines:
        if not (counter := _COUNTER.match(line)):
            break
        found[counter[1]] = int(counter[2])
    return found

"""Run Hadoop's own DistCp, to compare Twinhive's copying with it."""

import time
from collections.abc import Sequence

from sandbox.box import Sandbox
from sandbox.errors import SandboxError
from sandbox.jvm import start_jvm


def run_distcp(box: Sandbox, cluster: str, arguments: Sequence[str]) -> float:
    """Run DistCp in this process as a client of `cluster` and return the seconds it took.

    It runs on MapReduce's local runner, which has one mapper whatever `-m` says, and copies at most 100 MB/s unless
    `-bandwidth` says otherwise.
    """
    jpype = start_jvm(box, cluster, "distcp")
    configuration = jpype.JClass("org.apache.hadoop.conf.Configuration")()
    configuration.set("mapreduce.framework.name", "local")
    configuration.set("hadoop.tmp.dir", str(box.layout.temporary / "distcp"))
    tool = jpype.JClass("org.apache.hadoop.tools.DistCp")(configuration, None)
    began = time.monotonic()
    code = jpype.JClass("org.apache.hadoop.util.ToolRunner").run(tool, jpype.JArray(jpype.JString)(list(arguments)))
    if code != 0:
        raise SandboxError(f"DistCp ended with code {code}, see {box.layout.log_file('distcp')}")
    return time.monotonic() - began

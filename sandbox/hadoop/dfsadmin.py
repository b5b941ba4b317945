"""Run `hdfs dfsadmin` on a cluster, as its administrator does."""

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from sandbox.cluster import Cluster
from sandbox.errors import SandboxError
from sandbox.jvm.java import SERVER_FLAGS, server_java_home
from sandbox.running.processes import server_environment

_MAIN = "org.apache.hadoop.hdfs.tools.DFSAdmin"
_SECONDS = 60


def dfsadmin(cluster: Cluster, jars: Sequence[Path], arguments: Sequence[str]) -> str:
    """Return what the command prints. Raises SandboxError when it fails."""
    class_path = os.pathsep.join(str(entry) for entry in (cluster.conf_dir, *jars))
    environment = server_environment({"CLASSPATH": class_path, "HADOOP_USER_NAME": cluster.user})
    command = [str(server_java_home() / "bin" / "java"), *SERVER_FLAGS, "-Xmx128m", _MAIN, *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=_SECONDS)
    if done.returncode:
        raise SandboxError(f"dfsadmin {' '.join(arguments)} on {cluster.name} failed\n{done.stdout}{done.stderr}")
    return done.stdout

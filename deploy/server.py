"""Become one Java server of a cluster: `python -m deploy.server namenode`, configured by the files of CONFIGURATION.

The class path and Java are those of the sandbox, which all tests run with.
"""

import argparse
import os
import subprocess
from pathlib import Path

from deploy.settings import STORAGE
from sandbox.jvm.jars import jar_files
from sandbox.jvm.java import SERVER_FLAGS, server_java_home
from sandbox.jvm.logging_setup import log4j2_flags
from sandbox.paths import cache_root

CONFIGURATION = Path("/etc/hadoop")
_BESIDE = Path(__file__).with_name("hadoop")  # the log's settings, and the empty web applications HDFS insists on
_HDFS = "org.apache.hadoop.hdfs.server"
_SERVERS = {
    "namenode": (f"{_HDFS}.namenode.NameNode", "-Xmx512m", "-Xss512k"),
    "datanode": (f"{_HDFS}.datanode.DataNode", "-Xmx512m", "-Xss512k"),
    "metastore": ("org.apache.hadoop.hive.metastore.HiveMetaStore", "-Xmx1g", "-Xss4m"),
}


def main() -> None:
    """Run the server that the argument names, in place of this process."""
    parser = argparse.ArgumentParser(prog="python -m deploy.server")
    parser.add_argument("server", choices=_SERVERS)
    server: str = parser.parse_args().server
    command = java_command(server)
    class_path = os.pathsep.join(str(entry) for entry in [CONFIGURATION, _BESIDE, *jar_files(cache_root())])
    environment = {**os.environ, "CLASSPATH": class_path}
    if server == "namenode" and not (STORAGE / "name" / "current" / "VERSION").exists():
        subprocess.run([*command, "-format", "-nonInteractive", "-force"], env=environment, check=True)
    os.execve(command[0], command, environment)  # noqa: S606 (no shell is what is wanted)


def java_command(server: str) -> list[str]:
    """Return the words that start a server."""
    main_class, *memory = _SERVERS[server]
    log = log4j2_flags(_BESIDE / "log4j2.properties")
    return [str(server_java_home() / "bin" / "java"), *SERVER_FLAGS, *memory, *log, main_class]


if __name__ == "__main__":
    main()

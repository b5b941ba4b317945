"""Start the servers' Java and jars inside a Python process, as a client of one cluster."""

import os
from pathlib import Path
from typing import Any

from sandbox.box import Sandbox
from sandbox.jvm.jars import ensure_jars
from sandbox.jvm.java import SERVER_FLAGS, server_java_home
from sandbox.jvm.logging_setup import log4j2_flags, write_log4j2
from sandbox.paths import cache_root


def start_jvm(box: Sandbox, cluster: str, name: str, memory: str = "1g") -> Any:
    """Start Java with the cluster's configuration on its class path and return the `jpype` module.

    What it logs goes to `<name>.log` in the instance's log directory.
    """
    import jpype

    settings = box.layout.configuration / name / "log4j2.properties"
    write_log4j2(settings, box.layout.log_file(name))
    # Read by Hadoop when it first asks who the user is.
    os.environ["HADOOP_USER_NAME"] = box.clusters[cluster].user
    library = server_java_home() / "lib" / "server" / "libjvm.so"
    class_path: list[str | Path] = [box.clusters[cluster].conf_dir, *ensure_jars(cache_root())]
    flags = [*SERVER_FLAGS, *log4j2_flags(settings), f"-Xmx{memory}", f"-Djava.io.tmpdir={box.layout.temporary}"]
    jpype.startJVM(str(library), *flags, classpath=[str(entry) for entry in class_path], convertStrings=True)
    return jpype

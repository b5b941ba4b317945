"""Run a server on the Java 21 of the wheel."""

import os
from collections.abc import Mapping
from pathlib import Path

from sandbox.configuration import USER
from sandbox.java import SERVER_FLAGS, server_java_home
from sandbox.layout import Layout
from sandbox.logging_setup import log4j2_flags, write_log4j2
from sandbox.processes import server_environment
from sandbox.server import Launch, Server


class JavaServer(Server):
    """Be a server whose configuration directory comes first on its class path."""

    main: str

    def __init__(self, name: str, layout: Layout, classes: list[Path], flags: list[str]) -> None:
        self.name = name
        self.log_file = layout.log_file(name)
        self._layout = layout
        self._classes = classes
        self._flags = flags
        self._conf = layout.configuration / name

    def prepare(self, overrides: Mapping[str, str]) -> None:
        """Write the log settings."""
        write_log4j2(self._conf / "log4j2.properties", self.log_file)

    def launch(self) -> Launch:
        """Return the command to run."""
        flags = [*SERVER_FLAGS, *self._flags, f"-Djava.io.tmpdir={self._layout.temporary}"]
        flags.append(f"-XX:ErrorFile={self._layout.log / self.name}.crash")
        flags += log4j2_flags(self._conf / "log4j2.properties")
        command = [str(server_java_home() / "bin" / "java"), *flags, self.main, *self.arguments()]
        # In the environment, because the list is long and would drown everything else in `ps`.
        class_path = os.pathsep.join(str(entry) for entry in [self._conf, *self._classes])
        return Launch(command, server_environment({"CLASSPATH": class_path, "HADOOP_USER_NAME": USER}))

    def arguments(self) -> list[str]:
        """Return the arguments of the main class."""
        return []

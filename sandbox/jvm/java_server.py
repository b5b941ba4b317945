"""Run a server on the Java 21 of the wheel.

Java reads most classes of a server from an archive, which lies with the jars and which the first server of its kind,
of the first cluster, that ends makes: that halves the work of a start. It is made anew when a jar or Java is another.
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from sandbox.configuration import CLUSTERS, USER
from sandbox.jvm.java import SERVER_FLAGS, server_java_home
from sandbox.jvm.logging_setup import log4j2_flags, write_log4j2
from sandbox.layout import Layout
from sandbox.running.processes import server_environment
from sandbox.server import Launch, Server


class JavaServer(Server):
    """Be a server whose configuration directory is on its class path."""

    main: str
    has_class_archive = True
    # The first one writes its archive of classes then.
    stop_seconds = 30.0

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
        # One of a kind writes: when there is no archive yet, all that run would do so when they end.
        writes = self.name.startswith(f"{CLUSTERS[0]}-")
        return self._run(self.arguments(), ["-XX:+AutoCreateSharedArchive"] if writes else [])

    def once(self, *arguments: str) -> Launch:
        """Return the command that does something else than serve; it needs few classes, and writes no archive."""
        return self._run(arguments, [])

    def _run(self, arguments: Sequence[str], write_archive: Sequence[str]) -> Launch:
        flags = [*SERVER_FLAGS, *self._flags, f"-Djava.io.tmpdir={self._layout.temporary}"]
        flags.append(f"-XX:ErrorFile={self._layout.log / self.name}.crash")
        flags += log4j2_flags(self._conf / "log4j2.properties")
        archive = self._classes[0].parent / f"{self.main.rpartition('.')[2]}.jsa"
        if self.has_class_archive and (write_archive or archive.exists()):
            # Java says of hundreds of classes that they are not archived: those of signed jars.
            flags += [*write_archive, f"-XX:SharedArchiveFile={archive}", "-Xlog:cds=off"]
        command = [str(server_java_home() / "bin" / "java"), *flags, self.main, *arguments]
        # In the environment, because the list is long and would drown everything else in `ps`. Jars come first: an
        # archive may hold what is found before the first directory. No jar holds a file of the configuration.
        class_path = os.pathsep.join(str(entry) for entry in [*self._classes, self._conf])
        return Launch(command, server_environment({"CLASSPATH": class_path, "HADOOP_USER_NAME": USER}))

    def arguments(self) -> list[str]:
        """Return the arguments of the main class."""
        return []

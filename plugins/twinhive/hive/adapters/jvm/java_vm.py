"""Start the one Java machine of this process, on first use.

Hadoop's client runs in it, in plain processes and in the Python workers of Spark alike. It cannot
be started twice and does not survive a fork, so nothing here happens at import.
"""

import importlib
import importlib.util
import os
import shutil
import threading
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from twinhive.core.model.errors import ActNow
from twinhive.hive.adapters.jvm.signals import remember_java_handler, restore_java_handler

DEFAULT_HEAP = "256m"
_JARS = (
    "hadoop-client-api-*.jar",
    "hadoop-client-runtime-*.jar",
    "slf4j-api-*.jar",
    "log4j-api-*.jar",
    "log4j-core-*.jar",
    "log4j-slf4j2-impl-*.jar",
    "log4j-1.2-api-*.jar",
    "jcl-over-slf4j-*.jar",
    "snappy-java-*.jar",
    "zstd-jni-*.jar",
)
# These speak of what the adapters already turn into errors, or of what nobody can change.
_SILENT_LOGGERS = (
    "org.apache.hadoop.fs.FileSystem",
    "org.apache.hadoop.fs.TrashPolicyDefault",
    "org.apache.hadoop.hdfs.DataStreamer",
    "org.apache.hadoop.hdfs.DFSClient",
    "org.apache.hadoop.io.retry",
    "org.apache.hadoop.ipc.Client",
    "org.apache.hadoop.util.NativeCodeLoader",
)
_starting = threading.Lock()
_started_in: int | None = None
_of_thread = threading.local()


def java_class(name: str) -> Any:
    """Return a Java class, with the machine started if it is not yet."""
    start()
    return _load(name)


def start(heap: str = DEFAULT_HEAP) -> None:
    """Start the Java machine unless it runs. Raises ActNow without Java, Hadoop's jars or jpype."""
    global _started_in
    if _started_in == os.getpid():
        restore_java_handler()
        return
    with _starting:
        if _started_in is None:
            _start(heap)
            _started_in = os.getpid()
    if _started_in != os.getpid():
        raise ActNow(
            "this process was forked from one that had already started Java, which cannot work",
            found=f"Java of process {_started_in}, in process {os.getpid()}",
            expected="a process that starts Java itself",
            next_step="start the process before the first use of a file system, or by spawning",
        )


class _Attachment:
    """Be kept by a thread that uses Java; go, with Java's side of the thread, when the thread ends."""

    def __del__(self) -> None:
        import jpype

        if jpype.isJVMStarted():
            jpype.JClass("java.lang.Thread").detach()


def detach_at_end_of_thread() -> None:
    """Let Java forget this thread when it ends: otherwise each thread of a pool leaves one behind."""
    if getattr(_of_thread, "attachment", None) is None and threading.current_thread() is not threading.main_thread():
        _of_thread.attachment = _Attachment()


def hadoop_jars() -> list[str]:
    """Return the jars of Hadoop's client and of its logging, out of Spark's."""
    looked_in = list(dict.fromkeys(_jar_directories()))
    for directory in looked_in:
        if any(directory.glob(_JARS[0])):
            return [str(jar) for pattern in _JARS for jar in sorted(directory.glob(pattern))]
    raise ActNow(
        "Hadoop's client jars were not found",
        found=f"no {_JARS[0]} in {', '.join(map(str, looked_in)) or 'any place known'}",
        expected="the jars of a Spark distribution",
        next_step="set SPARK_HOME to a Spark distribution, or install the Python package pyspark",
    )


def _jar_directories() -> Iterator[Path]:
    home = os.environ.get("SPARK_HOME")
    if home:
        yield Path(home, "jars")
    spec = importlib.util.find_spec("pyspark")
    for location in (spec.submodule_search_locations or ()) if spec else ():
        package = Path(location)
        yield package / "jars"
        # In Spark's workers the package lies in <home>/python/lib/pyspark.zip/pyspark.
        yield from (above / "jars" for above in package.parents if (above / "jars").is_dir())
    yield Path.cwd() / "__spark_libs__"


def _start(heap: str) -> None:
    jpype = _jpype()
    if not jpype.isJVMStarted():
        jars = hadoop_jars()
        # Ending Java while Python's threads and objects still hold on to it can crash the process
        # after its work is done. Streams are closed by whoever opened them; the rest goes with the process.
        vars(importlib.import_module("jpype.config"))["onexit"] = False
        try:
            jpype.startJVM(
                *_flags(heap), jvmpath=_java_library(), classpath=jars, convertStrings=False, interrupt=False
            )
        except (OSError, RuntimeError, ValueError) as error:
            raise ActNow(
                "Java could not be started in this process",
                found=str(error).splitlines()[0] if str(error) else type(error).__name__,
                expected="a Java runtime of version 17 or newer",
                next_step="install one and set JAVA_HOME to it",
            ) from error
        remember_java_handler()
        _log_warnings_to_stderr()


@cache
def _load(name: str) -> Any:
    import jpype

    return jpype.JClass(name)


def _jpype() -> Any:
    try:
        import jpype
    except ImportError as error:
        raise ActNow(
            "the Python package jpype cannot be imported",
            found=error,
            expected="jpype, of the version that requirements.txt names",
            next_step="pip install JPype1, or ship it with the Spark job (--archives native.zip#native)",
        ) from error
    return jpype


def _flags(heap: str) -> tuple[str, ...]:
    # Without -Xrs Java takes over SIGTERM, and a process told to end dies of a SIGSEGV instead.
    quick_to_start = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-XX:-UsePerfData")
    # One logging context for all class loaders: jpype's own would otherwise get the only configured one.
    logging = "-Dlog4j2.contextSelector=org.apache.logging.log4j.core.selector.BasicContextSelector"
    return ("-Xrs", *quick_to_start, f"-Xmx{heap}", "-Djava.net.preferIPv4Stack=true", logging)


def _java_library() -> str:
    for home in _java_homes():
        for place in ("lib/server", "lib/client", "jre/lib/server", "jre/lib/amd64/server"):
            for name in ("libjvm.so", "libjvm.dylib"):
                if (home / place / name).exists():
                    return str(home / place / name)
    import jpype

    try:
        return str(jpype.getDefaultJVMPath())
    except (OSError, ValueError) as error:  # jpype's "not found" errors are of both kinds
        raise ActNow(
            "no Java runtime was found",
            found=f"JAVA_HOME={os.environ.get('JAVA_HOME', '')}, java on PATH: {shutil.which('java')}",
            expected="a Java runtime of version 17 or newer",
            next_step="install one and set JAVA_HOME to it",
        ) from error


def _java_homes() -> Iterator[Path]:
    if os.environ.get("JAVA_HOME"):
        yield Path(os.environ["JAVA_HOME"])
    found = shutil.which("java")
    if found:
        yield Path(found).resolve().parent.parent


def _log_warnings_to_stderr() -> None:
    """Set log4j by its own calls, before Hadoop's classes ask for it: there may be no file to read."""
    import jpype

    try:
        level = jpype.JClass("org.apache.logging.log4j.Level")
        factory = jpype.JClass("org.apache.logging.log4j.core.config.builder.api.ConfigurationBuilderFactory")
        configurator = jpype.JClass("org.apache.logging.log4j.core.config.Configurator")
        stderr = jpype.JClass("org.apache.logging.log4j.core.appender.ConsoleAppender$Target").SYSTEM_ERR
    except TypeError:  # a distribution with another logging library keeps its own configuration
        return
    builder = factory.newConfigurationBuilder()
    builder.setStatusLevel(level.ERROR)
    layout = builder.newLayout("PatternLayout").addAttribute("pattern", "%d{HH:mm:ss} %p %c{1}: %m%n%ex{0}")
    builder.add(builder.newAppender("stderr", "Console").addAttribute("target", stderr).add(layout))
    builder.add(builder.newRootLogger(level.WARN).add(builder.newAppenderRef("stderr")))
    for name in _SILENT_LOGGERS:
        builder.add(builder.newLogger(name, level.FATAL))
    configurator.initialize(builder.build())

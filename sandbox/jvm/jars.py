"""Fetch the pinned jars of Hadoop and Hive into the cache."""

import fcntl
import hashlib
import logging
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import quoteattr

from sandbox.errors import SandboxError
from sandbox.jvm.java import spark_home, spark_java

JAR_LIST = Path(__file__).with_name("jars.txt")
# A class path of its own, without Hive, fetched only by those who start YARN.
YARN_JAR_LIST = Path(__file__).with_name("yarn-jars.txt")
# The message broker's, fetched only by those who start it.
BROKER_JAR_LIST = Path(__file__).with_name("broker-jars.txt")
# Clients of years ago: Spark 3.3 with Hive 2.3.9's client; fetched only by the tests of them.
OLDER_JAR_LIST = Path(__file__).with_name("older-jars.txt")
# Hive's listener was compiled against a newer server: its own classes must win.
FIRST_ON_CLASS_PATH = "org.apache.hive.hcatalog--"
_VERIFIED = "_verified"
_log = logging.getLogger(__name__)
_SETTINGS = """<ivysettings>
  <settings defaultResolver="public"/>
  <caches defaultCacheDir={cache}/>
  <resolvers><ibiblio name="public" m2compatible="true" usepoms="false"/></resolvers>
</ivysettings>
"""


@dataclass(frozen=True)
class Jar:
    """Name one artifact and the content it must have."""

    organisation: str
    name: str
    version: str
    classifier: str
    sha256: str

    @property
    def file_name(self) -> str:
        """Return its name in the cache; five artifacts share their name with another organisation's."""
        classifier = f"-{self.classifier}" if self.classifier else ""
        return f"{self.organisation}--{self.name}-{self.version}{classifier}.jar"


def parse_jar_list(text: str) -> list[Jar]:
    """Read `organisation:name:version[:classifier] sha256` lines."""
    jars = []
    for line in text.splitlines():
        coordinate, sha256 = line.split()
        organisation, name, version, *classifier = coordinate.split(":")
        jars.append(Jar(organisation, name, version, classifier[0] if classifier else "", sha256))
    return jars


def jar_directory(cache: Path, jar_list: Path = JAR_LIST) -> Path:
    """Return where the jars of a list, as it is at present, lie, downloaded or not."""
    return cache / f"{jar_list.stem}-{hashlib.sha256(jar_list.read_bytes()).hexdigest()[:12]}"


def class_path_order(jars: list[Path]) -> list[Path]:
    """Sort jars, those that must win first."""
    return sorted(jars, key=lambda jar: (not jar.name.startswith(FIRST_ON_CLASS_PATH), jar.name))


def jar_files(cache: Path, jar_list: Path = JAR_LIST) -> list[Path]:
    """List the jars in class path order, downloaded or not."""
    directory = jar_directory(cache, jar_list)
    return class_path_order([directory / jar.file_name for jar in parse_jar_list(jar_list.read_text())])


def ensure_jars(cache: Path, jar_list: Path = JAR_LIST) -> list[Path]:
    """Download and verify the jars unless that was done before."""
    directory = jar_directory(cache, jar_list)
    if not (directory / _VERIFIED).exists():
        cache.mkdir(parents=True, exist_ok=True)
        with (cache / ".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not (directory / _VERIFIED).exists():
                _download(cache, directory, jar_list)
    missing = [jar for jar in jar_files(cache, jar_list) if not jar.exists()]
    if missing:
        found = f"{len(missing)} jars are gone from {directory}, for example {missing[0].name}"
        raise SandboxError(f"{found}: delete the directory and try again")
    return jar_files(cache, jar_list)


def ivy_module(jars: list[Jar]) -> str:
    """Write the list as an Ivy module without transitive dependencies."""
    modules: dict[tuple[str, str, str], list[str]] = {}
    for jar in jars:
        modules.setdefault((jar.organisation, jar.name, jar.version), []).append(jar.classifier)
    lines = ['<ivy-module version="2.0" xmlns:m="http://ant.apache.org/ivy/maven">']
    lines += ['<info organisation="twinhive" module="sandbox"/>', "<dependencies>"]
    for (organisation, name, version), classifiers in modules.items():
        coordinate = f'org="{organisation}" name="{name}" rev="{version}"'
        lines.append(f'<dependency {coordinate} transitive="false" conf="default->*">')
        for classifier in classifiers:
            extra = f' m:classifier="{classifier}"' if classifier else ""
            lines.append(f'<artifact name="{name}" type="jar" ext="jar"{extra}/>')
        lines.append("</dependency>")
    lines.insert(2, '<configurations><conf name="default"/></configurations>')
    return "\n".join([*lines, "</dependencies>", "</ivy-module>"])


def _download(cache: Path, directory: Path, jar_list: Path) -> None:
    jars = parse_jar_list(jar_list.read_text())
    java = spark_java()
    _log.info("downloading %d jars to %s, once; this takes a minute or two", len(jars), directory)
    with tempfile.TemporaryDirectory(prefix="download-", dir=cache) as temporary:
        work = Path(temporary)
        (work / "ivy.xml").write_text(ivy_module(jars))
        (work / "settings.xml").write_text(_SETTINGS.format(cache=quoteattr(str(work / "ivy"))))
        _run_ivy(java, work, cache / "download.log")
        fresh = work / "jars"
        _verify(fresh, jars, jar_list)
        (fresh / _VERIFIED).touch()
        if directory.exists():
            shutil.rmtree(directory)
        fresh.rename(directory)


def _run_ivy(java: Path, work: Path, log: Path) -> None:
    ivy = next((spark_home() / "jars").glob("ivy-*.jar"))
    # The system's Java knows local certificate authorities, the runtime of the wheel does not.
    command = [str(java), "-jar", str(ivy), "-settings", "settings.xml", "-ivy", "ivy.xml", "-warn"]
    command += ["-retrieve", "jars/[organisation]--[artifact]-[revision](-[classifier]).[ext]"]
    with log.open("w") as output:
        done = subprocess.run(command, cwd=work, stdout=output, stderr=subprocess.STDOUT, check=False)
    if done.returncode != 0:
        tail = "\n".join(log.read_text(errors="replace").splitlines()[-15:])
        raise SandboxError(f"Ivy could not download the jars (exit code {done.returncode}), see {log}\n{tail}")


def _verify(directory: Path, jars: list[Jar], jar_list: Path) -> None:
    for jar in jars:
        path = directory / jar.file_name
        if not path.exists():
            raise SandboxError(f"the download brought no {jar.file_name}")
        found = hashlib.sha256(path.read_bytes()).hexdigest()
        if found != jar.sha256:
            raise SandboxError(f"{jar.file_name} has sha256 {found}, {jar_list.name} expects {jar.sha256}")

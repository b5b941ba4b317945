"""Create the metastore's tables before its first start.

Left to itself the metastore creates tables lazily, and on PostgreSQL it waits for its own locks while doing so.
Runs in a process of its own (`python -m sandbox.hive.schema`, settings on standard input), because it needs a Java
virtual machine.
"""

import json
import os
import subprocess
import sys
import xml.etree.ElementTree as ET
import zipfile
from collections.abc import Iterator
from pathlib import Path

from sandbox.configuration import Database
from sandbox.errors import SandboxError
from sandbox.jvm.java import SERVER_FLAGS, server_java_home
from sandbox.jvm.logging_setup import log4j2_flags, write_log4j2
from sandbox.layout import Layout
from sandbox.paths import CHECKOUT


def create_schema(database: Database, jars: list[Path], layout: Layout) -> None:
    """Create all tables of the metastore in an empty database."""
    log = layout.log_file("metastore-schema")
    log4j2 = layout.configuration / "metastore-schema" / "log4j2.properties"
    write_log4j2(log4j2, log)
    settings = {
        "jars": [str(jar) for jar in jars],
        "flags": [*SERVER_FLAGS, *log4j2_flags(log4j2), "-Xmx256m"],
        "properties": _persistence_properties(database),
    }
    done = subprocess.run(
        [sys.executable, "-m", "sandbox.hive.schema"],
        input=json.dumps(settings),
        env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
        cwd=layout.temporary,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise SandboxError(f"the metastore's tables were not created, see {log}\n{done.stderr[-3000:]}")


def _persistence_properties(database: Database) -> dict[str, str]:
    return {
        "javax.jdo.PersistenceManagerFactoryClass": "org.datanucleus.api.jdo.JDOPersistenceManagerFactory",
        "javax.jdo.option.ConnectionURL": database.jdbc_url,
        "javax.jdo.option.ConnectionDriverName": "org.postgresql.Driver",
        "javax.jdo.option.ConnectionUserName": database.user,
        "javax.jdo.option.ConnectionPassword": database.password,
        "datanucleus.schema.autoCreateAll": "true",
        "datanucleus.identifierFactory": "datanucleus1",
        "datanucleus.rdbms.useLegacyNativeValueStrategy": "true",
        "datanucleus.connectionPoolingType": "None",
        "datanucleus.connectionPoolingType.nontx": "None",
        "datanucleus.transactionIsolation": "read-committed",
        "datanucleus.plugin.pluginRegistryBundleCheck": "LOG",
        "datanucleus.cache.level2": "false",
        "datanucleus.cache.level2.type": "none",
        "datanucleus.schema.validateTables": "false",
        "datanucleus.schema.validateColumns": "false",
        "datanucleus.schema.validateConstraints": "false",
    }


def persistent_classes(package_jdo: str) -> Iterator[str]:
    """List the classes that a `package.jdo` document maps to tables."""
    root = ET.fromstring(package_jdo)  # noqa: S314 (from a jar whose content was verified)
    for package in root.iter("package"):
        for mapped in package.iter("class"):
            yield f"{package.get('name')}.{mapped.get('name')}"


def _main() -> None:
    import jpype

    settings = json.load(sys.stdin)
    library = server_java_home() / "lib" / "server" / "libjvm.so"
    jpype.startJVM(str(library), *settings["flags"], classpath=settings["jars"])
    hive_exec = next(jar for jar in settings["jars"] if "--hive-exec-" in jar)
    package_jdo = zipfile.ZipFile(hive_exec).read("package.jdo").decode()
    properties = jpype.java.util.HashMap()
    for key, value in settings["properties"].items():
        properties.put(key, value)
    factory_class = jpype.JClass("org.datanucleus.api.jdo.JDOPersistenceManagerFactory")
    factory = factory_class.getPersistenceManagerFactory(properties)
    classes = jpype.java.util.HashSet()
    for name in persistent_classes(package_jdo):
        classes.add(name)
    context = factory.getNucleusContext()
    context.getStoreManager().createSchemaForClasses(classes, jpype.java.util.Properties())
    factory.close()


if __name__ == "__main__":
    _main()

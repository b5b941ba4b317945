"""Read the methods and structs of the metastore's Thrift API from the server's own jar.

`python -m sandbox.hive.metastore_api` writes the table of methods that the gateway works with, and refuses to while a
text is undecided (plugins/twinhive/hive/wire/roles.py). With `--print` it writes to its output.
"""

import sys
from typing import Any

from sandbox.jvm.jars import ensure_jars
from sandbox.jvm.java import server_java_home
from sandbox.paths import cache_root
from twinhive.hive.wire.method_table import TABLE, VERSION
from twinhive.hive.wire.method_table_generator import FieldList, derived, undecided

_API = "org.apache.hadoop.hive.metastore.api"
_SERVICES = (f"{_API}.ThriftHiveMetastore", "com.facebook.fb303.FacebookService")
"""The second is what the first extends: status, counters, shutdown."""
_FLAGS = ("-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
_JARS = ("hive-exec", "libthrift", "slf4j-api", "hadoop-common", "libfb303", "guava")
_PLAIN = {1: "void", 2: "bool", 3: "byte", 4: "double", 6: "i16", 8: "i32", 10: "i64", 11: "string"}
_STRUCT = 12


def read_structs() -> dict[str, FieldList]:
    """Return the fields of all structs that methods take and return, arguments and results among them; starts Java."""
    import jpype

    if not jpype.isJVMStarted():
        jars = [str(jar) for jar in ensure_jars(cache_root()) if any(part in jar.name for part in _JARS)]
        library = server_java_home() / "lib" / "server" / "libjvm.so"
        jpype.startJVM(str(library), *_FLAGS, classpath=jars, convertStrings=True)
    reader = _Reader(jpype)
    for service in _SERVICES:
        for nested in jpype.JClass("java.lang.Class").forName(service).getDeclaredClasses():
            if str(nested.getName()).endswith(("_args", "_result")):
                reader.add(str(nested.getName()))
    return dict(sorted(reader.structs.items()))


class _Reader:
    """Collect structs by their `metaDataMap`, each with those that its fields hold."""

    def __init__(self, jpype: Any) -> None:
        self._class_of = jpype.JClass
        metadata = "org.apache.thrift.meta_data."
        kinds = ("StructMetaData", "ListMetaData", "SetMetaData", "MapMetaData", "EnumMetaData")
        self._struct, self._list, self._set, self._map, self._enum = (jpype.JClass(metadata + kind) for kind in kinds)
        self.structs: dict[str, FieldList] = {}

    def add(self, java_name: str) -> str:
        """Read a struct unless that was done, and return its short name."""
        name = java_name.rpartition(".")[2].rpartition("$")[2]
        if name not in self.structs:
            self.structs[name] = ()
            fields = dict(self._class_of(java_name).metaDataMap)
            read = ((int(f.getThriftFieldId()), str(f.getFieldName()), v.valueMetaData) for f, v in fields.items())
            self.structs[name] = [(number, field, self._kind(value)) for number, field, value in sorted(read)]
        return name

    def _kind(self, value: Any) -> str:
        if isinstance(value, self._struct):
            return self.add(str(value.structClass.getName()))
        if isinstance(value, self._list):
            return f"list<{self._kind(value.elemMetaData)}>"
        if isinstance(value, self._set):
            return f"set<{self._kind(value.elemMetaData)}>"
        if isinstance(value, self._map):
            return f"map<{self._kind(value.keyMetaData)},{self._kind(value.valueMetaData)}>"
        if isinstance(value, self._enum):
            return "i32"
        if int(value.type) == _STRUCT:  # named before it was defined
            return self.add(f"{_API}.{value.getTypedefName()}")
        return "binary" if value.isBinary() else _PLAIN[int(value.type)]


def main() -> int:
    """Write the table beside the package's module that reads it."""
    structs = read_structs()
    if left := undecided(structs):
        sys.stderr.write("no rule of twinhive/hive/wire/roles.py knows:\n  " + "\n  ".join(left) + "\n")
        return 1
    if sys.argv[1:] == ["--print"]:
        sys.stdout.write(derived(VERSION, structs))
    else:
        TABLE.write_text(derived(VERSION, structs))
        sys.stdout.write(f"{TABLE} is written\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Keep the attributes of files in memory: what a path carries besides its bytes."""

from dataclasses import replace

from tests.support.worlds.fake_calls import InMemoryCalls
from twinhive.core.model.errors import Refused
from twinhive.core.model.files import Attributes


class InMemoryAttributes(InMemoryCalls):
    """Implement AttributeWriter, and the single attributes of FileWriter."""

    def attribute(self, path: str, name: str) -> str | None:
        with self._call("attribute"):
            found = self._node(path).attributes.get(name)
            return None if found is None else found.decode()

    def acl(self, path: str) -> tuple[str, ...]:
        with self._call("acl"):
            return self._node(path).acl

    def extended_attributes(self, path: str) -> dict[str, bytes]:
        with self._call("extended_attributes"):
            self._check_readable(path)
            return dict(self._node(path).attributes)

    def checksum_type(self, path: str) -> str:
        with self._call("checksum_type"):
            node = self._file(path)
            return node.checksum_type if self._has_checksums and node.content else ""

    def set_attribute(self, path: str, name: str, value: str) -> None:
        with self._change("set_attribute", path):
            if not self.keeps_attributes:
                raise Refused(f"{path}: {self.root} cannot do this", expected="a file system with attributes")
            self._node(path).attributes[name] = value.encode()

    def set_attributes(self, path: str, attributes: Attributes) -> None:
        with self._change("set_attributes", path):
            node = self._node(path)
            plain = ("owner", "group", "permission", "replication", "modified_ms", "accessed_ms")
            given = {name: getattr(attributes, name) for name in plain}
            if node.status.is_directory:
                del given["replication"]
            if attributes.acl is not None:
                node.acl = attributes.acl
                given["has_acl"] = bool(attributes.acl)
            if attributes.extended is not None:
                node.attributes = dict(attributes.extended)
            node.status = replace(node.status, **{name: value for name, value in given.items() if value is not None})

"""Turn Java's statuses of files into ours: a single one field by field, a page of a listing column by column.

Each call from Python into Java costs more than what it does there. So a page is read by Java's streams, one for
each field, whose functions are method handles: no Java code of ours is needed for that.
"""

from array import array
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from twinhive.core.model.files import FileStatus
from twinhive.hive.adapters.hdfs.hadoop_client import HadoopClient
from twinhive.hive.adapters.jvm.java_vm import java_class

_STATUS = "org.apache.hadoop.fs.FileStatus"
_HDFS_STATUS = "org.apache.hadoop.hdfs.protocol.HdfsFileStatus"
# Java's types of the numbers that a status has, in the order of `_statuses`.
_NUMBERS = {
    "isDirectory": "boolean",
    "getLen": "long",
    "getModificationTime": "long",
    "getBlockSize": "long",
    "getReplication": "short",
    "getAccessTime": "long",
    "hasAcl": "boolean",
    "isSymlink": "boolean",
}


def to_status(client: HadoopClient, path: str, java_status: Any) -> FileStatus:
    """Return Java's status of `path` as ours."""
    is_directory = bool(java_status.isDirectory())
    # Java asks a child process for a local file's owner and permission, one process a file.
    knows_owner = not client.is_local
    return FileStatus(
        path=path,
        length=0 if is_directory else int(java_status.getLen()),
        modified_ms=int(java_status.getModificationTime()),
        is_directory=is_directory,
        file_id=int(java_status.getFileId()) if client.is_hdfs else 0,
        owner=str(java_status.getOwner()) if knows_owner else "",
        group=str(java_status.getGroup()) if knows_owner else "",
        permission=int(java_status.getPermission().toShort()) if knows_owner else 0,
        block_size=int(java_status.getBlockSize()),
        replication=int(java_status.getReplication()),
        accessed_ms=int(java_status.getAccessTime()),
        has_acl=bool(java_status.hasAcl()) if knows_owner else False,
        is_link=Path(path.removeprefix(client.root)).is_symlink() if client.is_local else bool(java_status.isSymlink()),
    )


def to_statuses(client: HadoopClient, directory: str, java_statuses: Any) -> list[FileStatus]:
    """Return the children of a directory, given as a Java list, in its order."""
    if java_statuses.isEmpty():
        return []
    above = f"{directory.rstrip('/')}/"
    names = _texts(java_statuses, _name())
    if client.is_local:
        return [to_status(client, above + name, each) for name, each in zip(names, java_statuses, strict=True)]
    return list(_statuses(client, above, names, java_statuses))


def _statuses(client: HadoopClient, above: str, names: list[str], java_statuses: Any) -> Iterator[FileStatus]:
    columns = [_numbers(java_statuses, _number(_STATUS, method, kind)) for method, kind in _NUMBERS.items()]
    file_ids = (
        _numbers(java_statuses, _number(_HDFS_STATUS, "getFileId", "long")) if client.is_hdfs else [0] * len(names)
    )
    owners, groups = (_texts(java_statuses, _text(method)) for method in ("getOwner", "getGroup"))
    permissions = _numbers(java_statuses, _permission())
    rows = zip(names, file_ids, owners, groups, permissions, *columns, strict=True)
    for (
        name,
        file_id,
        owner,
        group,
        permission,
        is_directory,
        length,
        modified,
        block,
        copies,
        accessed,
        acl,
        link,
    ) in rows:
        yield FileStatus(
            above + name,
            0 if is_directory else length,
            modified,
            bool(is_directory),
            file_id,
            owner,
            group,
            permission,
            block,
            copies,
            accessed,
            bool(acl),
            bool(link),
        )


def _numbers(java_statuses: Any, function: Any) -> list[int]:
    found = array("q")
    found.frombytes(memoryview(java_statuses.stream().mapToLong(function).toArray()).tobytes())
    return found.tolist()


def _texts(java_statuses: Any, function: Any) -> list[str]:
    """Return a text of each. A slash is in no name of a file; in one of a user or a group it is as good as never."""
    texts = str(java_statuses.stream().map(function).collect(_joined())).split("/")
    if len(texts) == java_statuses.size():
        return texts
    return [str(function.apply(each)) for each in java_statuses]


@cache
def _joined() -> Any:
    return java_class("java.util.stream.Collectors").joining("/")


@cache
def _number(owner: str, method: str, kind: str) -> Any:
    return _long_function(_handle(owner, method, kind))


@cache
def _permission() -> Any:
    permission = "org.apache.hadoop.fs.permission.FsPermission"
    return _long_function(
        _chained(_handle(_STATUS, "getPermission", permission), _handle(permission, "toShort", "short"))
    )


@cache
def _name() -> Any:
    path = "org.apache.hadoop.fs.Path"
    return _function(_chained(_handle(_STATUS, "getPath", path), _handle(path, "getName", "java.lang.String")))


@cache
def _text(method: str) -> Any:
    return _function(_handle(_STATUS, method, "java.lang.String"))


def _handle(owner: str, method: str, returned: str) -> Any:
    signature = java_class("java.lang.invoke.MethodType").methodType(_type(returned))
    lookup = java_class("java.lang.invoke.MethodHandles").publicLookup()
    return lookup.findVirtual(_type(owner), method, signature)


def _chained(first: Any, second: Any) -> Any:
    return java_class("java.lang.invoke.MethodHandles").filterReturnValue(first, second)


def _long_function(handle: Any) -> Any:
    signature = java_class("java.lang.invoke.MethodType").methodType(_type("long"), _type("java.lang.Object"))
    cast = java_class("java.lang.invoke.MethodHandles").explicitCastArguments(handle, signature)
    return _as_interface("java.util.function.ToLongFunction", cast)


def _function(handle: Any) -> Any:
    return _as_interface("java.util.function.Function", handle)


def _as_interface(name: str, handle: Any) -> Any:
    return java_class("java.lang.invoke.MethodHandleProxies").asInterfaceInstance(_type(name), handle)


def _type(name: str) -> Any:
    primitive = {"long": "java.lang.Long", "short": "java.lang.Short", "boolean": "java.lang.Boolean"}.get(name)
    return java_class(primitive).TYPE if primitive else java_class(name).class_

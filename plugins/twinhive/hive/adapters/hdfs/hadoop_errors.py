"""Turn Java's exceptions into ours.

Classes decide, never a message's text. Servers send exceptions by class name, and the client's
jars do not hold all of the classes: so names are compared.
"""

from dataclasses import dataclass
from typing import Any

from twinhive.core.model.errors import AlreadyThere, Missing, Refused, SafeMode, TwinhiveError, Unexplained, Unreachable
from twinhive.core.model.next_steps import RETRIES
from twinhive.core.model.text import Text

_REMOTE = "org.apache.hadoop.ipc.RemoteException"


@dataclass(frozen=True)
class _Meaning:
    """What a family of Java exceptions means to us."""

    error: type[TwinhiveError]
    says: str
    expected: str
    next_step: Text
    classes: frozenset[str]


_MEANINGS = (
    _Meaning(
        SafeMode,
        "is in safe mode",
        "a file system that takes changes",
        "wait until the file system leaves safe mode (hdfs dfsadmin -safemode get), then run again",
        frozenset({"org.apache.hadoop.hdfs.server.namenode.SafeModeException"}),
    ),
    _Meaning(
        Refused,
        "refused: permission denied",
        "the right to do this there",
        "grant the right on this path, or set the cluster's user to one that has it",
        frozenset({"org.apache.hadoop.security.AccessControlException", "java.nio.file.AccessDeniedException"}),
    ),
    _Meaning(
        Refused,
        "refused: a quota is used up",
        "room within each quota at or above the path",
        "free space below the directory with the quota, or raise it (hdfs dfsadmin -setQuota, -setSpaceQuota); "
        "then run again",
        frozenset(
            {
                "org.apache.hadoop.hdfs.protocol.QuotaExceededException",
                "org.apache.hadoop.hdfs.protocol.NSQuotaExceededException",
                "org.apache.hadoop.hdfs.protocol.DSQuotaExceededException",
                "org.apache.hadoop.hdfs.protocol.QuotaByStorageTypeExceededException",
            }
        ),
    ),
    _Meaning(
        AlreadyThere,
        "has this path already",
        "nothing at this path",
        "look at what is there; it is not overwritten",
        frozenset(
            {
                "org.apache.hadoop.fs.FileAlreadyExistsException",
                "org.apache.hadoop.hdfs.protocol.AlreadyBeingCreatedException",
                "org.apache.hadoop.hdfs.protocol.RecoveryInProgressException",
                "java.nio.file.FileAlreadyExistsException",
            }
        ),
    ),
    _Meaning(
        Missing,
        "does not have this path",
        "something at this path",
        "check that it was not deleted or renamed meanwhile",
        frozenset({"java.io.FileNotFoundException", "java.nio.file.NoSuchFileException"}),
    ),
    _Meaning(
        Unreachable,
        "gave no intact replica of a block",
        "a DataNode with an intact replica",
        "look at the file (hdfs fsck with -blocks -locations), start the DataNodes that are down, then run again",
        frozenset(
            {
                "org.apache.hadoop.fs.ChecksumException",
                "org.apache.hadoop.hdfs.BlockMissingException",
                "org.apache.hadoop.hdfs.CannotObtainBlockLengthException",
            }
        ),
    ),
    _Meaning(
        Refused,
        "refused",
        "a name, a place and sizes within the limits of the file system",
        "correct what the message names: the name, the place or the limit of the file system",
        frozenset(
            {
                "org.apache.hadoop.fs.InvalidPathException",
                "org.apache.hadoop.fs.ParentNotDirectoryException",
                "org.apache.hadoop.fs.PathIsNotDirectoryException",
                "org.apache.hadoop.fs.PathIsNotEmptyDirectoryException",
                "org.apache.hadoop.hdfs.protocol.FSLimitException",
                "org.apache.hadoop.hdfs.protocol.FSLimitException$MaxDirectoryItemsExceededException",
                "org.apache.hadoop.hdfs.protocol.FSLimitException$PathComponentTooLongException",
                "org.apache.hadoop.hdfs.protocol.SnapshotAccessControlException",
                "org.apache.hadoop.hdfs.protocol.SnapshotException",
            }
        ),
    ),
    _Meaning(
        Refused,
        "cannot do this",
        "a file system that has this call",
        "leave out what needs it, or use a file system that has it",
        frozenset({"java.lang.UnsupportedOperationException", "org.apache.hadoop.ipc.RpcNoSuchMethodException"}),
    ),
    _Meaning(
        Unreachable,
        "did not answer",
        "an answer",
        "check that its NameNode and DataNodes are up and that the cluster's addresses are right; then run again",
        frozenset(
            {
                "java.net.SocketException",
                "java.net.SocketTimeoutException",
                "java.net.UnknownHostException",
                "java.io.EOFException",
                "java.io.InterruptedIOException",
                "java.nio.channels.ClosedChannelException",
                "org.apache.hadoop.ipc.StandbyException",
                "org.apache.hadoop.ipc.RetriableException",
                "org.apache.hadoop.ipc.ObserverRetryOnActiveException",
            }
        ),
    ),
)
_UNKNOWN_CALL = _MEANINGS[-2]
_BLOCKS = _Meaning(
    Unreachable,
    "found no DataNode that could do this",
    "a DataNode that is up and has room",
    "look which DataNodes are down or full (hdfs dfsadmin -report), start them or free space; then run again",
    frozenset({"java.io.IOException"}),
)
_UNUSABLE = _Meaning(
    Refused,
    "cannot be used like this",
    "an address that the client can use",
    "check the path, and the cluster's properties: a logical name needs dfs.nameservices and its addresses",
    frozenset({"java.lang.IllegalArgumentException"}),
)
_OTHER = _Meaning(
    Unexplained,
    "refused",
    "a call that it carries out",
    "see the message and the NameNode's log; before that, " + RETRIES,
    frozenset(),
)


# Named and used like a function; as a generator it would cost several times as much, around each call of Java.
class translated:
    """Let only our errors out of the block; they name the file system, the path and Java's message."""

    __slots__ = ("_path", "_root")

    def __init__(self, root: str, path: str) -> None:
        self._root = root
        self._path = path

    def __enter__(self) -> None:
        """Do nothing."""

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        """Raise ours instead of Java's."""
        if hasattr(error, "getMessage"):
            # Java's trace, the server's included, would fill the task's log; it stays in __context__.
            raise as_ours(error, self._root, self._path) from None


def as_ours(error: Any, root: str, path: str) -> TwinhiveError:
    """Return what a Java exception means."""
    names = _class_names(error)
    meaning = _meaning(names)
    return meaning.error(
        f"{path}: {root} {meaning.says}",
        found=f"{names[0].rpartition('.')[2]}: {_first_line(error)}",
        expected=meaning.expected,
        next_step=meaning.next_step,
    )


def is_missing(error: Any) -> bool:
    """True for the Java exceptions that say that a path does not exist."""
    return _meaning(_class_names(error)).error is Missing


def is_unknown_call(error: Any) -> bool:
    """True when the file system does not have the call, or its server is too old for it."""
    return _meaning(_class_names(error)) is _UNKNOWN_CALL


def _meaning(names: list[str]) -> _Meaning:
    for meaning in (*_MEANINGS, _UNUSABLE):
        if meaning.classes.intersection(names):
            return meaning
    # An unspecific IOException is what HDFS throws when DataNodes are lost or full. What it has another class for is
    # mostly a decision, which asking again does not change; of a class that nobody has named here nobody knows.
    return _BLOCKS if names[0] in _BLOCKS.classes else _OTHER


def _class_names(error: Any) -> list[str]:
    """Return the names of the exception's class and of those above; of a remote one, what it was there."""
    names = [str(kind.class_.getName()) for kind in type(error).__mro__ if hasattr(kind, "class_")]
    if _REMOTE in names:
        return [str(error.getClassName())]
    return names


def _first_line(error: Any) -> str:
    lines = str(error.getMessage() or "").splitlines()
    return lines[0] if lines else "no message"

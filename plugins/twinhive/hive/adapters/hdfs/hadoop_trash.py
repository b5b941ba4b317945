"""Move to Hadoop's trash, as `hdfs dfs -rm` does: below the user's `.Trash/Current`, or that of an encryption zone."""

from typing import Any

from twinhive.core.model.errors import Refused
from twinhive.hive.adapters.hdfs.hadoop_client import HadoopClient
from twinhive.hive.adapters.hdfs.hadoop_errors import as_ours, translated
from twinhive.hive.adapters.jvm.java_vm import java_class

_INTERVAL = "fs.trash.interval"
_BY_THE_TRASH = "java.io.IOException"
"""The class of what the trash raises: around the failure of a call, or by itself."""


def to_trash(client: HadoopClient, path: str) -> bool:
    """Move a path to the trash; False when no trash is kept, or nothing is there. Raises Refused.

    Trash.moveToAppropriateTrash does the same for Java's shared file systems, which may be another user's.
    """
    java_path = client.to_change(path)
    with translated(client.root, path):
        trash = _trash(client, java_path)
        if not trash.isEnabled():
            return False
        try:
            if trash.moveToTrash(java_path):
                return True
            why = "it is in the trash already, or the trash's directories cannot be made"
        except java_class("java.io.FileNotFoundException"):
            return False
        except java_class("java.io.IOException") as error:
            if error.getClass().getName() != _BY_THE_TRASH:
                raise
            if error.getCause() is not None:
                raise as_ours(error.getCause(), client.root, f"{path} (to the trash)") from None
            why = str(error.getMessage())
    raise Refused(
        f"{path}: {client.root} did not move it to the trash",
        found=why,
        expected="a trash that takes it",
        next_step="look at the trash of the cluster's user (hdfs dfs -ls .Trash), then run again",
    )


def _trash(client: HadoopClient, path: Any) -> Any:
    """Return the trash as the server keeps it, and as the client's properties say where the server keeps none."""
    settings = client.java.getConf()
    interval = client.java.getServerDefaults(path).getTrashInterval()
    if interval:
        settings = java_class("org.apache.hadoop.conf.Configuration")(settings)
        settings.setLong(_INTERVAL, interval)
    return java_class("org.apache.hadoop.fs.Trash")(client.java, settings)

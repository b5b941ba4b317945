"""Make and remove the snapshots that DistCp's `-diff` reads; ours makes its own."""

from contextlib import suppress

from twinhive.hive.adapters.hdfs.hadoop_client import HadoopClient
from twinhive.hive.adapters.jvm.java_vm import java_class


def take(client: HadoopClient, path: str, name: str) -> None:
    """Make a snapshot of a directory."""
    java_path = client.to_java(f"{client.root}{path}")
    client.java.allowSnapshot(java_path)
    client.java.createSnapshot(java_path, name)


def remove_all(client: HadoopClient, path: str) -> None:
    """Delete the snapshots of a directory, whoever made them; one without any is fine."""
    java_path = client.to_java(f"{client.root}{path}")
    with suppress(java_class("java.io.IOException")):
        for status in client.java.listStatus(client.to_java(f"{client.root}{path}/.snapshot")):
            client.java.deleteSnapshot(java_path, status.getPath().getName())
        client.java.disallowSnapshot(java_path)


def remove_tree(client: HadoopClient, path: str) -> None:
    """Delete a directory with its snapshots; one that does not exist is fine."""
    remove_all(client, path)
    client.java.delete(client.to_java(f"{client.root}{path}"), True)

"""What `clusters.yaml` says: of each cluster its metastore, its file system, where it runs jobs (seed 000)."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field, model_validator

from twinhive.settings.kinds import Root, Strict, ThriftUri, Unit


class MetastoreSettings(Strict):
    """Where a cluster's metastore is: an Airflow connection, or addresses."""

    connection: str | None = None
    """id of a connection. Exactly one of `connection` and `uris`"""
    uris: tuple[ThriftUri, ...] = ()
    """addresses of one metastore; the port is required. Reads go to whichever answers, each change to one, once"""
    user: str | None = None
    """name told to the metastore with `set_ugi`. Without it the connection's user; with neither nothing is told"""
    timeout_seconds: Annotated[int, Field(ge=1, le=3600), Unit("seconds")] = 60
    """for one call (connecting: at most 10 s); also how long a lease that was not released is waited for"""

    @model_validator(mode="after")
    def _one_of(self) -> "MetastoreSettings":
        if bool(self.connection) == bool(self.uris):
            raise ValueError("give either connection or uris")
        return self


class FileSystemSettings(Strict):
    """Where a cluster's file system is: an Airflow connection, or a URI with Hadoop properties."""

    connection: str | None = None
    """id of a connection. Exactly one of `connection` and `uri`"""
    uri: Root | None = None
    """the file system, without a path, exactly as the metastore writes locations"""
    user: str | None = None
    """user on the file system. Without it the connection's, else the process'"""
    hadoop: Mapping[str, str] = {}
    """properties of Hadoop's client; they win over those of the connection. No Hadoop file is read"""

    @model_validator(mode="after")
    def _one_of(self) -> "FileSystemSettings":
        if bool(self.connection) == bool(self.uri):
            raise ValueError("give either connection or uri")
        return self


class JobTrackerSettings(Strict):
    """Where a cluster runs jobs."""

    connection: str
    """id of a Spark connection. Of a policy's two clusters only the replica's is used"""


class ClusterSettings(Strict):
    """One cluster."""

    metastore: MetastoreSettings
    """its metastore"""
    file_system: FileSystemSettings
    """its file system"""
    job_tracker: JobTrackerSettings
    """where it runs jobs"""


class ClustersFile(Strict):
    """The whole file."""

    clusters: dict[str, ClusterSettings]
    """any number of clusters by name. If this file is wrong, every policy is"""

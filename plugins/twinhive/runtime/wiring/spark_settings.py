"""Tell Spark of the file systems of several clusters, and of the metastore that knows their tables."""

from collections.abc import Sequence

from twinhive.core.model.endpoints import FileSystemEndpoint


def spark_settings(ends: Sequence[FileSystemEndpoint], uri: str) -> dict[str, str]:
    """Return settings of Spark for file systems, and for a metastore or a gateway. The last of equal keys wins."""
    merged = {"spark.hadoop.hive.metastore.uris": uri, "spark.hadoop.metastore.thrift.uris": uri}
    name_services = [end.properties["dfs.nameservices"] for end in ends if "dfs.nameservices" in end.properties]
    for end in ends:
        merged |= {f"spark.hadoop.{key}": value for key, value in end.properties.items() if key != "fs.defaultFS"}
    if name_services:
        several = dict.fromkeys(name for text in name_services for name in text.split(","))
        merged["spark.hadoop.dfs.nameservices"] = ",".join(several)
    return merged

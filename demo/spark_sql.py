"""Run statements in Spark SQL, and print each with its rows."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from sandbox.jvm.java import spark_home, spark_java_home
from twinhive.hive.adapters.class_archive import archive_options
from twinhive.hive.adapters.spark_package import package_cache
from twinhive.runtime.spark.environment import quiet_and_quick

# A handful of rows: two hundred tasks for each join, or programs compiled for it, would be all there is to wait for.
_FEW_ROWS = {
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.adaptive.enabled": "false",
}


@contextmanager
def session(name: str, conf: Mapping[str, str], metastore: str) -> Iterator[Any]:
    """Keep a session with the metastore at this Thrift address; the environment says which Spark.

    It starts from the classes that copy jobs have archived, if they have.
    """
    from pyspark.sql import SparkSession

    archive = archive_options(package_cache(), str(spark_java_home()), str(spark_home()))

    builder = SparkSession.builder.master("local[2]").appName(name)
    ours = {"spark.hadoop.hive.metastore.uris": metastore, "spark.hadoop.metastore.thrift.uris": metastore}
    for key, value in {**conf, **quiet_and_quick(archive), **_FEW_ROWS, **ours}.items():
        builder = builder.config(key, value)
    with builder.getOrCreate() as spark:
        spark.sparkContext.setLogLevel("OFF")
        yield spark


def printed_rows(spark: Any, text: str) -> Iterator[str]:
    """Run a statement; yield it, and a line for each of its rows."""
    yield f"spark-sql> {text};"
    for row in spark.sql(text).collect():
        yield "  " + "\t".join(str(value) for value in row)


def print_rows(name: str, conf: Mapping[str, str], metastore: str, statements: Iterable[str]) -> None:
    """Run them one after the other with the metastore at this Thrift address."""
    with session(name, conf, metastore) as spark:
        for text in statements:
            for line in printed_rows(spark, text):
                print(line)

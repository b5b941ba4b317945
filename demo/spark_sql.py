"""Run statements in Spark SQL, and print each with its rows."""

from collections.abc import Iterable, Mapping


def print_rows(name: str, conf: Mapping[str, str], metastore: str, statements: Iterable[str]) -> None:
    """Run them one after the other with the metastore at this Thrift address; the environment says which Spark."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]").appName(name)
    ours = {"spark.hadoop.hive.metastore.uris": metastore, "spark.hadoop.metastore.thrift.uris": metastore}
    for key, value in {**conf, **ours}.items():
        builder = builder.config(key, value)
    with builder.getOrCreate() as spark:
        spark.sparkContext.setLogLevel("OFF")
        for text in statements:
            print(f"spark-sql> {text};")
            for row in spark.sql(text).collect():
                print("  " + "\t".join(str(value) for value in row))

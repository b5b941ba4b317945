"""Run SQL statements on one of the clusters with Spark: `spark_sql.py CLUSTER [key=value...] < statements`.

Statements are separated by lines that hold a semicolon alone.
"""

import os
import sys

from sandbox import Sandbox
from sandbox.spark import spark_conf, spark_submit_environment


def main() -> int:
    """Run the statements one after the other."""
    name, *settings = sys.argv[1:]
    cluster = Sandbox.open(os.environ.get("TWINHIVE_SANDBOX", "test")).clusters[name]
    os.environ.update(spark_submit_environment(cluster))
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[1]").appName("users")
    chosen = {**spark_conf(cluster), **dict(setting.split("=", 1) for setting in settings)}
    for key, value in chosen.items():
        builder = builder.config(key, value)
    with builder.getOrCreate() as spark:
        spark.sparkContext.setLogLevel("ERROR")
        for statement in sys.stdin.read().split("\n;\n"):
            if statement.strip():
                spark.sql(statement).collect()
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Count the rows of all tables of the demo's database on one cluster, with Spark SQL.

Run as a program: `python -m demo.count_rows east` prints `{"table": rows, ...}` as its last line.
"""

import json
import os
import sys

from demo.names import DATABASE
from sandbox import Sandbox
from sandbox.spark import spark_conf, spark_submit_environment


def main(cluster_name: str) -> int:
    """Count through the cluster's own metastore, as a reader would."""
    cluster = Sandbox.open().clusters[cluster_name]
    os.environ.update(spark_submit_environment(cluster))
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[1]").appName(f"count on {cluster_name}")
    for key, value in spark_conf(cluster).items():
        builder = builder.config(key, value)
    with builder.getOrCreate() as spark:
        spark.sparkContext.setLogLevel("ERROR")
        names = [row.tableName for row in spark.sql(f"SHOW TABLES IN {DATABASE}").collect()]
        print(json.dumps({name: spark.table(f"{DATABASE}.{name}").count() for name in names}))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))

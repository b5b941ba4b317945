"""Run statements in Spark SQL on one cluster, as its port of the gateway shows the metastore; print their rows.

Run as a program: `python -m demo.cluster_sql north 9193 "SELECT ..." ...`; the cluster is one of the sandbox.
"""

import json
import os
import subprocess
import sys

from sandbox import Sandbox
from sandbox.spark import spark_conf, spark_submit_environment


def main(cluster: str, port: str, statements: list[str]) -> int:
    """Run them one after the other."""
    box = Sandbox.open()
    here = box.north if cluster == "north" else box.clusters[cluster]
    os.environ.update(spark_submit_environment(here))
    from pyspark.sql import SparkSession

    uri = f"thrift://127.0.0.1:{port}"
    # The sandbox's own Spark, told of the file systems of all clusters by what the gateway prints.
    conf = {**spark_conf(box.clusters["east"]), **_told(), "spark.hadoop.fs.defaultFS": here.hdfs_uri}
    conf |= {"spark.hadoop.hive.metastore.uris": uri, "spark.hadoop.metastore.thrift.uris": uri}
    builder = SparkSession.builder.master("local[2]").appName(f"statements on {cluster}")
    for key, value in conf.items():
        builder = builder.config(key, value)
    with builder.getOrCreate() as spark:
        spark.sparkContext.setLogLevel("OFF")
        for text in statements:
            print(f"spark-sql> {text};")
            for row in spark.sql(text).collect():
                print("  " + "\t".join(str(value) for value in row))
    return 0


def _told() -> dict[str, str]:
    words = ["twinhive", "gateway", "conf", "--cluster", "C1", "--json"]
    said = json.loads(subprocess.run(words, capture_output=True, text=True, check=True).stdout)
    return dict(said["settings"])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], sys.argv[3:]))

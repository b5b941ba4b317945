"""Run statements in Spark SQL on one cluster, as its port of the gateway shows the metastore; print their rows.

Run as a program: `python -m demo.cluster_sql north 9193 "SELECT ..." ...`; the cluster is one of the sandbox.
"""

import json
import os
import subprocess
import sys

from demo.spark_sql import print_rows
from sandbox import Sandbox
from sandbox.spark import spark_conf, spark_submit_environment


def main(cluster: str, port: str, statements: list[str]) -> int:
    """Run them one after the other."""
    box = Sandbox.open()
    here = box.north if cluster == "north" else box.clusters[cluster]
    os.environ.update(spark_submit_environment(here))
    # The sandbox's own Spark, told of the file systems of all clusters by what the gateway prints.
    conf = {**spark_conf(box.clusters["east"]), **_told(), "spark.hadoop.fs.defaultFS": here.hdfs_uri}
    print_rows(f"statements on {cluster}", conf, f"thrift://127.0.0.1:{port}", statements)
    return 0


def _told() -> dict[str, str]:
    words = ["twinhive", "gateway", "conf", "--cluster", "C1", "--json"]
    said = json.loads(subprocess.run(words, capture_output=True, text=True, check=True).stdout)
    return dict(said["settings"])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], sys.argv[3:]))

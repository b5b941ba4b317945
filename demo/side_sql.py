"""Run statements in Spark SQL on one cluster of the sandbox: `python -m demo.side_sql west "SELECT ..." ...`."""

import os
import sys

from demo.spark_sql import print_rows
from sandbox import Sandbox
from sandbox.spark import spark_conf, spark_submit_environment


def main(name: str, statements: list[str]) -> int:
    """Run them one after the other."""
    cluster = Sandbox.open().clusters[name]
    os.environ.update(spark_submit_environment(cluster))
    print_rows(f"statements on {name}", spark_conf(cluster), cluster.metastore_uri, statements)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))

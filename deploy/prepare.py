"""Create what a cluster's metastore must find when it starts: `python -m deploy.prepare east`. It can be repeated."""

import argparse
import os
from pathlib import Path

import psycopg2
from psycopg2 import sql

from deploy.addresses import namenode_url
from deploy.settings import PASSWORD_VARIABLE, metastore_tables
from sandbox.configuration import CLUSTERS, Database
from sandbox.hdfs import DIRECTORIES, make_directory
from sandbox.jars import jar_files
from sandbox.layout import Layout
from sandbox.paths import cache_root
from sandbox.schema import create_schema


def main() -> None:
    """Prepare the cluster that the argument names."""
    parser = argparse.ArgumentParser(prog="python -m deploy.prepare")
    parser.add_argument("cluster", choices=CLUSTERS)
    cluster: str = parser.parse_args().cluster
    for path, permission in DIRECTORIES.items():
        make_directory(namenode_url(cluster), path, permission)
    _create_tables(metastore_tables(cluster, os.environ[PASSWORD_VARIABLE]))


def _create_tables(database: Database) -> None:
    """Create a database with the metastore's tables; only a complete one gets its name."""
    if (database.name,) in _run(database, "SELECT datname FROM pg_database"):
        return
    unfinished = Database(database.port, f"{database.name}_unfinished", database.user, database.password, database.host)
    _run(database, sql.SQL("DROP DATABASE IF EXISTS {}").format(sql.Identifier(unfinished.name)))
    _run(database, sql.SQL("CREATE DATABASE {}").format(sql.Identifier(unfinished.name)))
    layout = Layout(Path("/tmp/schema"))  # noqa: S108 (of a container that does nothing else)
    layout.create()
    create_schema(unfinished, jar_files(cache_root()), layout)
    rename = sql.SQL("ALTER DATABASE {} RENAME TO {}")
    _run(database, rename.format(sql.Identifier(unfinished.name), sql.Identifier(database.name)))


def _run(server: Database, statement: str | sql.Composed) -> list[tuple[str]]:
    connection = psycopg2.connect(
        host=server.host, port=server.port, user=server.user, password=server.password, dbname="postgres"
    )
    try:
        connection.autocommit = True
        with connection.cursor() as cursor:
            cursor.execute(statement)
            return cursor.fetchall() if cursor.description else []
    finally:
        connection.close()


if __name__ == "__main__":
    main()

"""Create what a cluster's metastore must find when it starts: `python -m deploy.prepare east`. It can be repeated."""

import argparse
import os
from pathlib import Path

import psycopg2
from psycopg2 import sql

from deploy.addresses import POSTGRES, POSTGRES_PORT, SUPERUSER, namenode_url
from deploy.settings import PASSWORD_VARIABLE, metastore_tables
from sandbox.configuration import CLUSTERS, Database
from sandbox.hadoop.hdfs import DIRECTORIES, make_directory
from sandbox.hive.schema import create_schema
from sandbox.jvm.jars import jar_files
from sandbox.layout import Layout
from sandbox.paths import cache_root

_SUPERUSERS_PASSWORD = "POSTGRES_PASSWORD"  # noqa: S105 (its name)


def main() -> None:
    """Prepare the cluster that the argument names."""
    parser = argparse.ArgumentParser(prog="python -m deploy.prepare")
    parser.add_argument("cluster", choices=CLUSTERS)
    cluster: str = parser.parse_args().cluster
    for path, permission in DIRECTORIES.items():
        make_directory(namenode_url(cluster), path, permission)
    superuser = Database(POSTGRES_PORT, "postgres", SUPERUSER, os.environ[_SUPERUSERS_PASSWORD], POSTGRES)
    _create_tables(superuser, metastore_tables(cluster, os.environ[PASSWORD_VARIABLE]))


def _create_tables(superuser: Database, database: Database) -> None:
    """Create a database with the metastore's tables, of the metastore's user; only a complete one gets its name."""
    if (database.name,) in _run(superuser, "SELECT datname FROM pg_database"):
        return
    unfinished = Database(database.port, f"{database.name}_unfinished", database.user, database.password, database.host)
    name, owner = sql.Identifier(unfinished.name), sql.Identifier(database.user)
    _run(superuser, sql.SQL("DROP DATABASE IF EXISTS {}").format(name))
    _run(superuser, sql.SQL("CREATE DATABASE {} OWNER {}").format(name, owner))
    _run(superuser, sql.SQL("REVOKE CONNECT ON DATABASE {} FROM PUBLIC").format(name))
    layout = Layout(Path("/tmp/schema"))  # noqa: S108 (of a container that does nothing else)
    layout.create()
    create_schema(unfinished, jar_files(cache_root()), layout)
    rename = sql.SQL("ALTER DATABASE {} RENAME TO {}")
    _run(superuser, rename.format(sql.Identifier(unfinished.name), sql.Identifier(database.name)))


def _run(server: Database, statement: str | sql.Composed) -> list[tuple[str]]:
    connection = psycopg2.connect(
        host=server.host, port=server.port, user=server.user, password=server.password, dbname=server.name
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

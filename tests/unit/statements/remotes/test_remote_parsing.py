"""Statements about remotes: the examples of seed 004 as they stand there, and what is wrong, pointed at."""

import pytest

from twinhive.core.model.errors import InvalidSettings
from twinhive.federation.routing.statement_splitter import cut
from twinhive.statements.remote_language.remote_parsing import is_about_remotes, parse_remote
from twinhive.statements.remote_language.remote_values import (
    CreateConnector,
    CreateRemoteDatabase,
    CreateRemoteTable,
    DescribeRemote,
    DropConnector,
    DropRemoteDatabase,
    DropRemoteTable,
    NameSaid,
    RemoteStatement,
    ShowConnectors,
    ShowRemotes,
    UseDatabase,
)

THRIFT = "org.apache.hadoop.hive.metastore.ThriftHiveMetastoreClientFactory"
URIS = ("hive.metastore.uris", "thrift://remote-hms:9083")
TABLE = NameSaid(None, "tbl_name")

OF_HIVE_4 = [
    (
        "CREATE CONNECTOR IF NOT EXISTS West TYPE 'twinhive' URL 'thrift://west:9083' COMMENT 'far' "
        "WITH DCPROPERTIES ('a' = 'b');",
        CreateConnector("west", "twinhive", "thrift://west:9083", "far", (("a", "b"),), if_not_exists=True),
    ),
    ("create connector c type 'twinhive' url 'x'", CreateConnector("c", "twinhive", "x")),
    ("DROP CONNECTOR IF EXISTS west", DropConnector("west", if_exists=True)),
    ("SHOW CONNECTORS LIKE 'w*'", ShowConnectors("w*")),
    (
        "CREATE REMOTE DATABASE db USING west WITH DBPROPERTIES ('connector.remoteDbName'='rdb')",
        CreateRemoteDatabase("db", properties=(("connector.remoteDbName", "rdb"),), connector="west"),
    ),
]


@pytest.mark.parametrize(("text", "says"), OF_HIVE_4)
def test_hive_4s_words_are_read(text: str, says: RemoteStatement) -> None:
    assert is_about_remotes(text)
    assert parse_remote(text) == says


OF_THE_SEED = [
    (
        """
    CREATE REMOTE TABLE local_db.local_tbl
    CONNECTED TO remote_db.remote_tbl
    VIA 'org.apache.hadoop.hive.metastore.ThriftHiveMetastoreClientFactory'
    WITH TBLPROPERTIES (
      'hive.metastore.uris' = 'thrift://remote-hms:9083'
    );
""",
        CreateRemoteTable(NameSaid("local_db", "local_tbl"), NameSaid("remote_db", "remote_tbl"), THRIFT, (URIS,)),
    ),
    (
        """
    CREATE REMOTE DATABASE local_db_name
    CONNECTED TO remote_db_name
    VIA 'org.apache.hadoop.hive.metastore.ThriftHiveMetastoreClientFactory'
    WITH DBPROPERTIES (
      'hive.metastore.uris' = 'thrift://remote-hms:9083'
    );
""",
        CreateRemoteDatabase("local_db_name", "remote_db_name", THRIFT, (URIS,)),
    ),
    (
        """
    CREATE REMOTE DATABASE db_name
    WITH DBPROPERTIES (
      'hive.metastore.uris' = 'thrift://remote-hms:9083'
    );
""",
        CreateRemoteDatabase("db_name", properties=(URIS,)),
    ),
    (
        """CREATE REMOTE TABLE tbl_name
    WITH TBLPROPERTIES (
      'hive.metastore.uris' = 'thrift://remote-hms:9083'
    );
""",
        CreateRemoteTable(TABLE, properties=(URIS,)),
    ),
    (
        """
    CREATE REMOTE TABLE tbl_name
    VIA 'org.apache.hadoop.hive.metastore.SSHThriftHiveMetastoreClientFactory'
    WITH TBLPROPERTIES (
      'hive.metastore.uris' = 'thrift://metastore.domain:9083'
      'ssh.tunnel.route' = 'bastionuser@bastion-host.domain -> user@cluster-node.domain'
      'ssh.tunnel.private.keys' = '/home/user/.ssh/bastionuser-key-pair.pem,/home/user/.ssh/user-key-pair.pem'
      'ssh.tunnel.known.hosts' = '/home/user/.ssh/known_hosts'
    );
""",
        CreateRemoteTable(
            TABLE,
            via="org.apache.hadoop.hive.metastore.SSHThriftHiveMetastoreClientFactory",
            properties=(
                ("hive.metastore.uris", "thrift://metastore.domain:9083"),
                ("ssh.tunnel.route", "bastionuser@bastion-host.domain -> user@cluster-node.domain"),
                (
                    "ssh.tunnel.private.keys",
                    "/home/user/.ssh/bastionuser-key-pair.pem,/home/user/.ssh/user-key-pair.pem",
                ),
                ("ssh.tunnel.known.hosts", "/home/user/.ssh/known_hosts"),
            ),
        ),
    ),
    (
        """
    CREATE REMOTE TABLE tbl_name
    VIA 'com.amazonaws.glue.catalog.metastore.AWSGlueDataCatalogHiveClientFactory'
    WITH TBLPROPERTIES (
      -- Glue endpoint configuration
    );
""",
        CreateRemoteTable(TABLE, via="com.amazonaws.glue.catalog.metastore.AWSGlueDataCatalogHiveClientFactory"),
    ),
    (
        """
    CREATE REMOTE TABLE tbl_name
    VIA 'xxx.yyy.iceberg.hive.zzz.IcebergTableHiveClientFactory'
    WITH TBLPROPERTIES (
      'iceberg.table.path' = 'an-atomic-store:/tables/tbl_name'
    )
""",
        CreateRemoteTable(
            TABLE,
            via="xxx.yyy.iceberg.hive.zzz.IcebergTableHiveClientFactory",
            properties=(("iceberg.table.path", "an-atomic-store:/tables/tbl_name"),),
        ),
    ),
]


@pytest.mark.parametrize(("text", "said"), OF_THE_SEED)
def test_the_examples_of_the_seed_as_they_stand(text: str, said: RemoteStatement) -> None:
    assert is_about_remotes(text)
    assert parse_remote(text) == said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "create remote table if not exists A.B connected to C with tblproperties()",
            CreateRemoteTable(NameSaid("a", "b"), NameSaid(None, "c"), if_not_exists=True),
        ),
        ('CREATE REMOTE SCHEMA `in` VIA "ssh"', CreateRemoteDatabase("in", via="ssh")),
        ("CREATE REMOTE TABLE remote", CreateRemoteTable(NameSaid(None, "remote"))),
        ("DROP REMOTE TABLE IF EXISTS a.b;", DropRemoteTable(NameSaid("a", "b"), if_exists=True)),
        ("drop remote database x", DropRemoteDatabase("x")),
        ("SHOW REMOTE TABLES", ShowRemotes(databases=False)),
        ("SHOW REMOTE TABLES IN shop LIKE 'a*|b'", ShowRemotes(databases=False, database="shop", like="a*|b")),
        ("SHOW REMOTE DATABASES 'f*'", ShowRemotes(databases=True, like="f*")),
        ("DESCRIBE a.b", DescribeRemote(NameSaid("a", "b"))),
        ("desc extended b", DescribeRemote(NameSaid(None, "b"), extended=True)),
        ("DESCRIBE extended", DescribeRemote(NameSaid(None, "extended"))),
        ("USE shop;", UseDatabase("shop")),
        ("CREATE REMOTE TABLE t -- why\n WITH TBLPROPERTIES ('a'='1', 'b'='2',)", None),
    ],
)
def test_everything_else_of_the_grammar(text: str, said: RemoteStatement | None) -> None:
    assert is_about_remotes(text)
    found = parse_remote(text)
    assert said is None or found == said


@pytest.mark.parametrize(
    ("text", "at", "says"),
    [
        ("CREATE REMOTE", "column 14", "TABLE or DATABASE"),
        ("CREATE REMOTE TABLE", "column 20", "a name"),
        ("CREATE REMOTE TABLE a.b.c", "column 24", "CONNECTED"),
        ("CREATE REMOTE DATABASE a.b", "column 26", "one word"),
        ("CREATE REMOTE DATABASE `a-b`", "column 24", "letters a to z"),
        ("CREATE REMOTE TABLE t WITH DBPROPERTIES ('a'='b')", "column 28", "TBLPROPERTIES"),
        ("CREATE REMOTE TABLE t WITH TBLPROPERTIES ('a'='b' 'a'='c')", "column 51", "each key once, with a name"),
        ("CREATE REMOTE TABLE t WITH TBLPROPERTIES ('a' 'b')", "column 47", "'='"),
        ("CREATE REMOTE TABLE t VIA thrift", "column 27", "a text in quotes"),
        ("CREATE REMOTE TABLE t VIA 'thrift", "column 27", "never closed"),
        ("DROP REMOTE VIEW v", "column 13", "TABLE or DATABASE"),
        ("CREATE REMOTE TABLE t WITH TBLPROPERTIES (' ' = 'b')", "column 43", "with a name"),
        ("DROP REMOTE TABLE ` `", "column 19", "a name"),
        ("USE a; USE b", "column 8", "the end of the statement"),
    ],
)
def test_what_is_wrong_is_pointed_at(text: str, at: str, says: str) -> None:
    with pytest.raises(InvalidSettings) as caught:
        parse_remote(text)
    said = str(caught.value)
    assert at in said and says in said and "^" in said and "docs/remotes.md" in said


@pytest.mark.parametrize(
    "text", ["REPL DUMP a", "create table t", "", "SELECT 1", "used", "CREATE\n-- x\nTABLE remote"]
)
def test_other_statements_are_not_ours(text: str) -> None:
    assert not is_about_remotes(text)


def test_a_file_is_split_at_semicolons_outside_of_quotes_and_comments() -> None:
    text = "USE a; -- one; two\nCREATE REMOTE TABLE t VIA 'x;y';;\n-- the end\n"
    assert [one.text for one in cut(text)] == ["USE a", "-- one; two\nCREATE REMOTE TABLE t VIA 'x;y'"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("DESCRIBE EXTENDED name -- comment", DescribeRemote(NameSaid(None, "name"), True)),
        ("DESCRIBE EXTENDED -- which\n name", DescribeRemote(NameSaid(None, "name"), True)),
        ("DESCRIBE FORMATTED --\n-- it's; it\n`formatted`", DescribeRemote(NameSaid(None, "formatted"), True)),
        ("DESCRIBE extended -- a table of this name", DescribeRemote(NameSaid(None, "extended"), False)),
        ("DESCRIBE extended -- its\n-- comments\n", DescribeRemote(NameSaid(None, "extended"), False)),
        ("DESCRIBE extended . t -- x", DescribeRemote(NameSaid("extended", "t"), False)),
        ("-- c; d's\nUSE db; -- it's done; all of it", UseDatabase("db")),
        ("DROP REMOTE TABLE a.b -- x", DropRemoteTable(NameSaid("a", "b"), False)),
        ("SHOW REMOTE TABLES -- x", ShowRemotes(False, None, None)),
        ("SHOW CONNECTORS -- x", ShowConnectors(None)),
        ("DROP CONNECTOR c -- x", DropConnector("c", False)),
        ("create connector c type 'twinhive' url 'x' -- y", CreateConnector("c", "twinhive", "x")),
        ("CREATE REMOTE DATABASE db USING c -- z", CreateRemoteDatabase("db", connector="c")),
    ],
)
def test_comments_may_stand_anywhere(text: str, said: RemoteStatement) -> None:
    (one,) = [one.text for one in cut(text)]
    assert is_about_remotes(text)
    assert parse_remote(one) == said

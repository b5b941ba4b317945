"""`twinhive sql -f` on real servers: USE CLUSTER says to which of three clusters each statement of a file is said."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.integration.remotes_desk import Desk, desk
from tests.support.policies import PolicyFiles
from tests.support.users.warehouse import Warehouse
from twinhive.hive.adapters.hdfs.hadoop_fs import HadoopFiles
from twinhive.surfaces.cli.app import run

pytestmark = pytest.mark.sandbox
__all__ = ["desk"]


class Scripts:
    """Says files to `twinhive sql`, where north is a cluster of east's metastore."""

    def __init__(self, desk: Desk, directory: Path, capfd: pytest.CaptureFixture[str]) -> None:
        self.desk, self._directory, self._capfd = desk, directory, capfd

    def say(self, text: str, *options: str) -> tuple[int, str, str]:
        """Return the exit code, the rows, and what was said meanwhile or went wrong."""
        file = self._directory / "script.sql"
        file.write_text(self.desk.meant(text), encoding="utf-8")
        code = run(["sql", "-f", str(file), "--config", str(self.desk.config), *options])
        said = self._capfd.readouterr()
        return code, said.out, said.err


@pytest.fixture
def scripts(
    desk: Desk,
    policies: PolicyFiles,
    north: HadoopFiles,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> Iterator[Scripts]:
    clusters: dict[str, Any] = yaml.safe_load((policies.directory / "clusters.yaml").read_text())
    of_north = {"file_system": {"connection": "north_hdfs"}, "job_tracker": {"connection": "north_spark"}}
    clusters["clusters"]["north"] = {"metastore": {"of": "east"}, **of_north}
    policies.write("clusters.yaml", clusters)
    yield Scripts(desk, tmp_path, capfd)


NIGHTLY = """
-- USE CLUSTER west; in a comment is none
USE CLUSTER west; -- west has the table
EXPORT TABLE {sales}.orders TO 'hdfs://west/exports-of-{sales}';
use cluster `east`;
IMPORT TABLE brought FROM 'hdfs://west/exports-of-{sales}' LOCATION 'hdfs://east/brought-to-{shop}';
CREATE REMOTE DATABASE {far} CONNECTED TO {sales} WITH DBPROPERTIES ({uris}, 'comment' = 'USE CLUSTER west; x');
USE {shop};
CREATE REMOTE TABLE bought CONNECTED TO {sales}.parts WITH TBLPROPERTIES ({uris});
SHOW REMOTE TABLES;
USE CLUSTER;
"""


@pytest.mark.thorough
def test_each_statement_of_a_file_is_said_to_the_cluster_that_is_named_before_it(
    scripts: Scripts, east: Warehouse, west: Warehouse
) -> None:
    desk = scripts.desk
    text = NIGHTLY.replace("TABLE brought", "TABLE {shop}.brought")
    code, rows, said = scripts.say(text, "--json")
    assert code == 0, rows + said
    assert json.loads(rows)["rows"] == [["bought", f"{desk.sales}.parts", "thrift"]]
    assert sorted(east.client.get_all_tables(desk.shop)) == ["bought", "brought", "own"]
    assert desk.far in east.client.get_all_databases() and desk.far not in west.client.get_all_databases()
    assert sorted(west.client.get_all_tables(desk.sales)) == ["orders", "parts"]
    assert east.files.read(f"hdfs://east/brought-to-{desk.shop}/f") == b"x,1\ny,2\n"


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("then", "says"),
    [
        ("USE CLUSTER south;", "there is no cluster south"),
        ("USE CLUSTER north; SELECT * FROM {shop}.own", "twinhive route --cluster north"),
        ("USE CLUSTER north; USE {shop}; SHOW REMOTE TABLES", "name east instead"),
        ("USE CLUSTER west east; REPL STATUS x", "USE CLUSTER west east"),
        ("USE CLUSTER west; REPL STATUS", "^"),
        ("USE CLUSTER west; CREATE REMOTE TABLE t CONNECTED", "^"),
        ("USE CLUSTER 'west'; REPL STATUS x", "USE CLUSTER 'west'"),
    ],
)
def test_a_file_with_what_cannot_be_said_changes_nothing_on_any_cluster(
    scripts: Scripts, east: Warehouse, west: Warehouse, then: str, says: str
) -> None:
    events = [one.client.get_current_notificationEventId().eventId for one in (east, west)]
    first = "USE CLUSTER east; CREATE REMOTE DATABASE {far} CONNECTED TO {sales} WITH DBPROPERTIES ({uris});\n"
    code, _, said = scripts.say(first + then)
    assert code != 0 and scripts.desk.meant(says) in said, said
    assert [one.client.get_current_notificationEventId().eventId for one in (east, west)] == events

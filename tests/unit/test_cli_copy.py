"""Type `twinhive copy`, between two file systems in memory."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from typer.testing import CliRunner

from tests.support.hdfs.fake_files import InMemoryFiles
from tests.support.hdfs.fake_lease import InMemoryLease
from twinhive.core.model.endpoints import FileSystemEndpoint
from twinhive.core.model.errors import InvalidSettings
from twinhive.surfaces.cli import copy_command
from twinhive.surfaces.cli.app import app
from twinhive.surfaces.cli.copy_command import read_lines


class Terminal:
    """Two file systems, and a terminal beside them."""

    def __init__(self) -> None:
        self.stores = {root: InMemoryFiles(root) for root in ("hdfs://east", "hdfs://west")}
        self.east, self.west = self.stores.values()
        self.used: list[FileSystemEndpoint] = []

    def files(self, endpoint: FileSystemEndpoint) -> InMemoryFiles:
        self.used.append(endpoint)
        return self.stores[endpoint.root]

    def type(self, *words: str, code: int = 0) -> str:
        """Run the command and return what it prints; its exit code is checked."""
        result: Result = CliRunner().invoke(app, ["copy", *words], env={"COLUMNS": "200"})
        assert result.exit_code == code, f"{result.output}\n{result.exception!r}"
        return result.output + result.stderr if code else result.output


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Terminal:
    made, lease = Terminal(), InMemoryLease()
    monkeypatch.setattr(copy_command, "files", made.files)
    monkeypatch.setattr(copy_command, "lease_keeper", lambda endpoint, settle: lease)
    monkeypatch.delenv("HADOOP_CONF_DIR", raising=False)
    monkeypatch.setenv("TWINHIVE_CONFIG", str(tmp_path))
    made.east.put("hdfs://east/a/one", b"one")
    made.east.put("hdfs://east/a/deep er/two", b"second")
    return made


PAIR = ("hdfs://east/a", "hdfs://west/b")


def test_the_target_becomes_equal_and_the_counters_say_how(terminal: Terminal) -> None:
    said = terminal.type(*PAIR)
    assert "copied    2 files, 2 directories, 9 B" in said
    assert terminal.west.read("hdfs://west/b/deep er/two") == b"second"
    said = terminal.type(*PAIR)
    assert "copied    0 files" in said
    assert "skipped   2 files" in said


def test_a_dry_run_prints_the_plan_as_a_table_and_changes_nothing(terminal: Terminal) -> None:
    said = terminal.type(*PAIR, "--dry-run")
    assert "copy, new" in said and "2 files" in said and "nothing was changed" in said
    assert terminal.west.status("hdfs://west/b") is None


def test_the_log_holds_the_outcome_as_json(terminal: Terminal, tmp_path: Path) -> None:
    log = tmp_path / "log.json"
    terminal.east.unreadable.add("hdfs://east/a/one")
    terminal.type(*PAIR, "--log", str(log), code=4)
    record: dict[str, Any] = json.loads(log.read_text())
    assert (record["exit_code"], record["failed"]["files"], record["target"]) == (4, 1, "hdfs://west/b")
    assert record["failures"][0]["path"] == "hdfs://east/a/one"


def test_scripts_get_one_document_of_a_plan_and_of_an_outcome(terminal: Terminal, tmp_path: Path) -> None:
    def document(*words: str) -> dict[str, Any]:
        result: Result = CliRunner().invoke(app, ["copy", *PAIR, *words, "--json"])
        found: dict[str, Any] = json.loads(result.stdout)
        return found

    planned = document("--dry-run")
    assert planned["dry_run"] and [row["what"] for row in planned["rows"]] == ["new directories", "copy, new"]
    log = tmp_path / "log.json"
    done = document("--log", str(log))
    assert (done["copied"]["files"], done["exit_code"], done["options"]["delete"]) == (2, 0, "no")
    assert json.loads(log.read_text()) == done


def test_options_reach_the_engine(terminal: Terminal, tmp_path: Path) -> None:
    terminal.west.put("hdfs://west/b/gone", b"")
    terminal.west.put("hdfs://west/b/kept.log", b"")
    filters = tmp_path / "filters"
    filters.write_text(".*[.]log\n")
    said = terminal.type(
        *PAIR, "--delete", "permanently", "--filters", str(filters), "--exclude", "deep er", "--preserve", "t"
    )
    assert "deleted   1 file" in said
    assert terminal.west.status("hdfs://west/b/kept.log") and terminal.west.status("hdfs://west/b/gone") is None
    assert terminal.west.status("hdfs://west/b/deep er") is None
    copied, original = terminal.west.status("hdfs://west/b/one"), terminal.east.status("hdfs://east/a/one")
    assert copied and original and copied.modified_ms == original.modified_ms


def test_sources_may_be_read_from_a_file(terminal: Terminal, tmp_path: Path) -> None:
    listed = tmp_path / "sources"
    listed.write_text("hdfs://east/a/deep er\nhdfs://east/a/one\n")
    terminal.type("hdfs://west/b", "--sources-from", str(listed))
    assert terminal.west.read("hdfs://west/b/one") == b"one"
    assert terminal.west.read("hdfs://west/b/deep er/two") == b"second"


def test_properties_and_user_hold_for_both_sides(terminal: Terminal) -> None:
    terminal.type(*PAIR, "-D", "dfs.replication=2", "--user", "etl")
    for endpoint in terminal.used:
        assert (endpoint.properties["dfs.replication"], endpoint.user) == ("2", "etl")


def test_clusters_are_known_by_name(terminal: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = {
        "metastore": {"connection": "m"},
        "file_system": {"connection": "east_files"},
        "job_tracker": {"connection": "s"},
    }
    other = {**cluster, "file_system": {"uri": "hdfs://west"}}
    (tmp_path / "clusters.yaml").write_text(json.dumps({"clusters": {"east": cluster, "west": other}}))
    said = terminal.type("east:/a", "west:/b", code=4)
    assert "AIRFLOW_CONN_EAST_FILES" in said
    monkeypatch.setenv("AIRFLOW_CONN_EAST_FILES", json.dumps({"extra": {"uri": "hdfs://east", "user": "hive"}}))
    terminal.type("east:/a", "west:/b")
    assert terminal.west.read("hdfs://west/b/one") == b"one"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ((), "a copy needs a source and a target"),
        (("hdfs://east/a",), "a copy needs a source and a target"),
        (("hdfs://east/none", "hdfs://west/b"), "hdfs://east/none"),
        (("hdfs://west/b", "hdfs://west/b/c"), "hdfs://west/b"),
        (("hdfs://east/a", "hdfs://east/a"), "hdfs://east/a"),
        ((*PAIR, "--preserve", "e"), "'e' is not a letter"),
        ((*PAIR, "--exclude", "("), "does not compile"),
        ((*PAIR, "--filters", "/no/such/file"), "/no/such/file"),
        ((*PAIR, "--threads", "0"), "threads must be above zero"),
        ((*PAIR, "--bandwidth", "-1"), "bandwidth_mb must be above zero"),
        ((*PAIR, "--split-above", "0"), "split_above must be above zero"),
        ((*PAIR, "--staging", "hdfs://east/s"), "staging"),
        ((*PAIR, "--delete", "all"), "delete: this is not one of its values"),
        ((*PAIR, "-D", "nonsense"), "is not a property"),
        (("nowhere:/a", "hdfs://west/b"), "no cluster nowhere"),
        ((*PAIR, "--config", "/no/such"), "clusters.yaml"),
    ],
    ids=str,
)
def test_wrong_input_is_said_plainly_before_anything_is_copied(
    terminal: Terminal, words: tuple[str, ...], says: str
) -> None:
    terminal.west.make_directories("hdfs://west/b")
    before = terminal.west.paths()
    said = terminal.type(*words, code=4)
    assert says in said and "Traceback" not in said
    assert "next:" in said
    assert terminal.west.paths() == before


def test_the_help_maps_distcps_options() -> None:
    said = CliRunner().invoke(app, ["copy", "--help"], env={"COLUMNS": "200"}).output
    for option in ("-update", "-delete", "-bandwidth", "-filters", "-diff", "-blocksperchunk"):
        assert f"\n  {option}" in said or f"\n {option}" in said, option


def test_lines_are_read_from_a_file_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "filters"
    path.write_bytes(b"a.*\r\n\n  b \n#c\n")

    assert read_lines(path) == ("a.*", "  b ", "#c")


def test_a_file_that_is_missing_or_no_text_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InvalidSettings, match="cannot be read"):
        read_lines(tmp_path / "none")
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InvalidSettings, match="cannot be read"):
        read_lines(tmp_path / "binary")
    with pytest.raises(InvalidSettings, match="cannot be read"):
        read_lines(tmp_path)

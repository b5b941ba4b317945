"""What a person asks of Spark is checked before anything is listed or copied."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from twinhive.core.model.errors import InvalidSettings
from twinhive.runtime.spark.cluster import SparkCluster
from twinhive.surfaces.cli.app import app


@pytest.mark.parametrize(
    "master", ["yarn", "local", "local[4]", "local[*]", "spark://a:7077,b:7077", "k8s://https://a"]
)
def test_masters(master: str) -> None:
    assert SparkCluster.of(master, 4, [("spark.executor.memory", "2g")]) == SparkCluster(
        master, 4, {"spark.executor.memory": "2g"}
    )


@pytest.mark.parametrize("master", [None, "", "hadoop", "yarn-cluster", "spark:/a", "local["])
def test_what_is_no_master(master: str | None) -> None:
    with pytest.raises(InvalidSettings, match="--spark: this is no master"):
        SparkCluster.of(master, 4, [])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--spark", "yarn", "--tasks", "0"], "--tasks: not a number of tasks"),
        (["--spark", "yarn", "--tasks", "-3"], "--tasks: not a number of tasks"),
        (["--spark", "yarn", "--tasks", "10001"], "expected: 1 to 10,000"),
        (["--spark", "yarn", "--spark-conf", "spark.executor.memory"], "is not a property"),
        (["--spark", "yarn", "--spark-conf", "dfs.replication=1"], "given with -D"),
        (["--spark", "yarn", "--spark-conf", "spark.submit.deployMode=cluster"], "cannot be cluster"),
        (["--spark", ""], "this is no master of Spark"),
        (["--spark-conf", "spark.executor.memory=2g"], "this is no master of Spark"),
    ],
)
def test_bad_options_are_a_message_and_change_nothing(words: list[str], said: str, tmp_path: Path) -> None:
    (tmp_path / "source").mkdir()
    (tmp_path / "source" / "file").write_bytes(b"x")
    result = CliRunner().invoke(app, ["copy", f"file://{tmp_path}/source", f"file://{tmp_path}/target", *words])
    assert result.exit_code == 4, result.output
    assert said in result.stderr and "next:" in result.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["source"]

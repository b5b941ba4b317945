"""Find Spark, Java and Python where PATH leads to none of them."""

from pathlib import Path

import pytest

from twinhive.core.model.errors import ActNow
from twinhive.runtime.spark.environment import spark_environment


def test_spark_gets_absolute_paths_that_exist(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SPARK_HOME", "PYSPARK_PYTHON"):
        monkeypatch.delenv(name, raising=False)
    environment = spark_environment()
    assert (Path(environment["SPARK_HOME"]) / "bin" / "spark-submit").exists()
    assert (Path(environment["JAVA_HOME"]) / "bin" / "java").exists()
    assert all(Path(value).is_absolute() for value in environment.values())


def test_settings_of_the_worker_win_over_what_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SPARK_HOME", "JAVA_HOME", "PYSPARK_PYTHON"):
        monkeypatch.setenv(name, f"/opt/{name.lower()}")
    environment = spark_environment()
    assert (environment["SPARK_HOME"], environment["JAVA_HOME"]) == ("/opt/spark_home", "/opt/java_home")
    # It is in the environment already, which spark-submit inherits.
    assert "PYSPARK_PYTHON" not in environment


def test_a_worker_without_java_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(ActNow, match="no Java on this worker"):
        spark_environment()

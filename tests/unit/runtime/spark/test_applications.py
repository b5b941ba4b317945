"""Find the files of spark_jobs/ wherever the package was installed."""

from pathlib import Path

import pytest

from twinhive.core.model.errors import ActNow
from twinhive.runtime.spark import applications
from twinhive.runtime.spark.applications import application_file, look_in

CHECKOUT = Path(__file__).resolve().parents[4]


@pytest.fixture(autouse=True)
def projects(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(applications, "_projects", [CHECKOUT])


def test_both_kinds_of_copies_find_their_job_beside_the_plugins() -> None:
    for name in ("copy_files", "run_sql"):
        assert application_file(name) == CHECKOUT / "spark_jobs" / f"{name}.py"


def test_a_package_that_was_installed_by_itself_finds_them_beside_the_dags(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(applications, "_projects", [tmp_path / "site-packages"])
    (tmp_path / "repo" / "spark_jobs").mkdir(parents=True)
    (tmp_path / "repo" / "spark_jobs" / "run_sql.py").touch()
    look_in(tmp_path / "repo")
    assert application_file("run_sql") == tmp_path / "repo" / "spark_jobs" / "run_sql.py"


def test_what_is_nowhere_names_every_place(tmp_path: Path) -> None:
    look_in(tmp_path)
    with pytest.raises(ActNow, match="the Spark job copy_moon is not there") as caught:
        application_file("copy_moon")
    assert str(tmp_path) in str(caught.value) and str(CHECKOUT) in str(caught.value)

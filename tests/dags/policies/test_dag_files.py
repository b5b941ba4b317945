"""Airflow passes over DAG files that do not name it: ours, and those that the documents show, do."""

import re
from pathlib import Path

import pytest
from airflow.utils.file import might_contain_dag

from tests.dags.airflow_home import CHECKOUT

SHOWN = {
    f"{page.stem} {number}": text
    for page in sorted((CHECKOUT / "docs").glob("*.md"))
    for number, text in enumerate(re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.M | re.S))
    if re.search(r"\bDAG\(|replication_dags\(", text)
}


@pytest.mark.parametrize("path", sorted((CHECKOUT / "dags").glob("*.py")), ids=lambda path: path.name)
def test_a_dag_file_of_ours_is_read(path: Path) -> None:
    assert might_contain_dag(str(path), safe_mode=True)


@pytest.mark.parametrize("name", SHOWN)
def test_a_dag_file_that_a_page_shows_is_read(name: str, tmp_path: Path) -> None:
    (tmp_path / "shown.py").write_text(SHOWN[name], encoding="utf-8")
    assert might_contain_dag(str(tmp_path / "shown.py"), safe_mode=True)


def test_pages_show_dag_files() -> None:
    assert len(SHOWN) > 3

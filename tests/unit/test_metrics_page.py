"""The page of metrics names those that are sent, and no others."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
SENT = re.compile(r'^[A-Z_]+ = "(twinhive\.[a-z.]+)"$', re.MULTILINE)


def test_every_metric_stands_in_the_table_and_in_the_mapping() -> None:
    sent = set(SENT.findall((ROOT / "plugins/twinhive/airflow_edge/metrics.py").read_text()))
    page = (ROOT / "docs/metrics.md").read_text()
    assert len(sent) == 8
    assert set(re.findall(r"^\| `(twinhive\.[a-z.]+)`", page, re.MULTILINE)) == sent
    assert set(re.findall(r"match: airflow\.(twinhive\.[a-z.]+)", page)) == sent


def test_alerts_are_about_what_the_mapping_makes() -> None:
    page = (ROOT / "docs/metrics.md").read_text()
    made = set(re.findall(r"name: (twinhive_[a-z_]+)", page))
    used = set(re.findall(r"\btwinhive_[a-z_]+", page.partition("## Alerts")[2]))
    assert used and used <= made

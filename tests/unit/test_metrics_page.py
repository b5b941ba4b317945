"""The page of metrics names those that are sent, and no others."""

import re
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/metrics.md"
SENT = re.compile(r'^[A-Z_]+ = "(twinhive\.[a-z.]+)"$', re.MULTILINE)


def test_every_metric_stands_in_the_table_and_in_the_mapping() -> None:
    sent = set(SENT.findall((ROOT / "plugins/twinhive/surfaces/airflow/monitor/metrics.py").read_text()))
    page = (ROOT / "docs/metrics.md").read_text()
    assert len(sent) == 32
    assert set(re.findall(r"^\| `(twinhive\.[a-z.]+)`", page, re.MULTILINE)) == sent
    assert set(re.findall(r"match: airflow\.(twinhive\.[a-z.]+)", page)) == sent


def test_alerts_are_about_what_the_mapping_makes() -> None:
    page = (ROOT / "docs/metrics.md").read_text()
    made = set(re.findall(r"name: (twinhive_[a-z_]+)", page))
    used = set(re.findall(r"\btwinhive_[a-z_]+", page.partition("## Alerts")[2]))
    assert used and used <= made


def rules() -> dict[str, Any]:
    """Return the alerts of the page by name."""
    [text] = re.findall(r"```yaml\n(groups:.*?)```", PAGE.read_text(), re.DOTALL)
    [group] = yaml.safe_load(text)["groups"]
    return {rule["alert"]: rule for rule in group["rules"]}


def test_no_rule_rests_on_the_increase_of_a_counter_alone() -> None:
    """A counter that appears with 1 does not increase: such a rule has to see the new series as well."""
    for name, rule in rules().items():
        for counter in re.findall(r"increase\((\w+_total)", rule["expr"]):
            assert re.search(rf"{counter}[^\n]*\n?\s*unless [^\n]*{counter}[^\n]* offset", rule["expr"]), name


def test_no_alert_ends_because_what_is_sent_once_a_night_is_not_sent_any_more() -> None:
    """What the monitor sends each minute may go, for then the monitor is silent, which is an alert of its own."""
    page = PAGE.read_text()
    kept = {name for name, ttl in re.findall(r"name: (twinhive_\w+)(, ttl: \w+)?}", page) if not ttl}
    nightly = re.findall(r"^\| `(twinhive\.verify\.[a-z]+)` \| gauge", page, re.MULTILINE)
    assert len(nightly) == 3 and {name.replace(".", "_") for name in nightly} <= kept
    assert "twinhive_monitor_at" in kept


def test_a_replica_that_was_never_verified_is_told_as_well_as_one_that_is_not_any_more() -> None:
    assert rules()["ReplicaNotVerified"]["expr"] == "time() - twinhive_verify_at > 36 * 3600"
    never = rules()["ReplicaNeverVerified"]
    assert re.fullmatch(r"twinhive_lag_seconds unless on \(policy\) twinhive_verify_at", never["expr"])
    assert never["for"] == "36h"


def test_there_is_a_rule_for_all_that_turns_the_monitor_red() -> None:
    used = " ".join(rule["expr"] for rule in rules().values())
    made = set(re.findall(r"name: (twinhive_[a-z_]+)", PAGE.read_text()))
    work = {
        "twinhive_lag_events",
        "twinhive_rpo_events",
        "twinhive_rpo_seconds",
        "twinhive_external_pending",
        "twinhive_sets_held",
        "twinhive_set_seconds",
        "twinhive_publisher_waiting_events",
    } | {f"twinhive_{what}_total" for what in ("files_copied", "bytes_copied", "events_applied")}
    assert made - work == {name for name in made if re.search(rf"\b{name}\b", used)}
    assert re.search(r"absent\(twinhive_monitor_at\)", used)


def test_every_metric_of_a_gateway_is_explained() -> None:
    text = (ROOT / "plugins/twinhive/federation/gateway/gateway_metrics.py").read_text()
    sent = set(re.findall(r"# TYPE (twinhive_gateway_\w+)", text))
    explained = re.findall(r"^\| `(twinhive_gateway_\w+)", (ROOT / "docs/remotes.md").read_text(), re.MULTILINE)
    assert sent == set(explained)

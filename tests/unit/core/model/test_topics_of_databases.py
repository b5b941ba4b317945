"""Who subscribes to a database hears all of its tables, whatever the pattern of topics is."""

import pytest

from twinhive.core.model.messages.topics import TopicRules
from twinhive.core.model.names import TableName


@pytest.mark.parametrize(
    ("pattern", "heard"),
    [
        ("twinhive.{cluster}.{database}.{table}", "twinhive.east.sales"),
        ("twinhive.{cluster}.{database}", "twinhive.east.sales"),
        ("twinhive.{cluster}.{database}-{table}", "twinhive.east"),
        ("twinhive.{cluster}.t{table}", "twinhive.east"),
        ("twinhive.{table}.{cluster}", "twinhive"),
        ("{table}.{cluster}", ""),
    ],
)
def test_all_tables_are_at_or_below_what_is_subscribed_to(pattern: str, heard: str) -> None:
    rules = TopicRules("east", pattern)
    assert rules.subscribed("sales") == heard
    topic = rules.topic_of(TableName("sales", "orders"))
    assert not heard or topic == heard or topic.startswith(f"{heard}.")

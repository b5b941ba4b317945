"""A write is pretended, or only noted where nobody could read it again; any other is a mistake that shows."""

from typing import Any, cast

import pytest

from twinhive.core.model.names import TableName
from twinhive.core.ports import MetastoreReader
from twinhive.runtime.dry_run.pretended_metastore import PretendedMetastore

ORDERS = TableName("sales", "orders")


@pytest.fixture
def metastore() -> Any:
    return PretendedMetastore(cast(MetastoreReader, None))


def test_what_nobody_reads_again_is_noted_with_what_it_is_about(metastore: Any) -> None:
    metastore.set_statistics(ORDERS, "{}")
    metastore.delete_statistics(ORDERS, partition="day=1", column=None)
    assert metastore.calls == [("set_statistics", "sales.orders"), ("delete_statistics", "sales.orders")]


@pytest.mark.parametrize("name", ["create_database", "fire_inserts", "set_statistic"])
def test_what_would_write_and_cannot_be_pretended_is_a_mistake_that_shows(metastore: Any, name: str) -> None:
    with pytest.raises(NotImplementedError, match=f"cannot pretend {name}"):
        getattr(metastore, name)

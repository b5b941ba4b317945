"""Decode the events of column statistics."""

from twinhive.core.model.changes.kinds import DeleteStatistics, UpdateStatistics
from twinhive.core.model.names import TableName
from twinhive.core.model.tjson import Tree
from twinhive.hive.events.event_objects import table_name, table_of_row
from twinhive.hive.events.fields import MessageFields

# ColumnStatistics, ColumnStatisticsDesc
_DESCRIPTION, _DATABASE, _TABLE = "1", "2", "3"


def update_of_table(message: MessageFields) -> UpdateStatistics:
    """Decode UPDATE_TBL_COL_STAT_EVENT."""
    table, text = message.struct("colStatsJson", _described)
    return UpdateStatistics(table, None, text)


def update_of_partition(message: MessageFields) -> UpdateStatistics:
    """Decode UPDATE_PART_COL_STAT_EVENT, of one partition."""
    table, text = message.struct("colStatsJson", _described)
    return UpdateStatistics(table, message.texts("partVals"), text)


def delete_of_table(message: MessageFields) -> DeleteStatistics:
    """Decode DELETE_TBL_COL_STAT_EVENT; only the log's row names the table."""
    return DeleteStatistics(table_of_row(message), None, _column(message))


def delete_of_partition(message: MessageFields) -> DeleteStatistics:
    """Decode DELETE_PART_COL_STAT_EVENT; only the log's row names the table."""
    return DeleteStatistics(table_of_row(message), message.texts("partValues"), _column(message))


def _column(message: MessageFields) -> str | None:
    column = message.optional_text("colName")
    return column.lower() if column else None


def _described(tree: Tree, text: str) -> tuple[TableName, str]:
    return table_name(tree.get(_DESCRIPTION, {}).get("rec", {}), _DATABASE, _TABLE), text

"""What DESCRIBE returns: the remote's description, and the remote configuration after it (seed 004)."""

from collections.abc import Iterator, Mapping

from twinhive.core.model.objects import Table
from twinhive.core.model.remotes.definitions import RemoteDatabase, RemoteTable
from twinhive.federation.gateway.probe import Probed, RemoteState
from twinhive.hive.adapters.hive.hive_remotes import table_of_answer

ViewRow = tuple[str, str, str]


def description_columns() -> tuple[str, str, str]:
    """Return the names that Hive's DESCRIBE gives its columns."""
    return ("col_name", "data_type", "comment")


def described(
    definition: RemoteTable | RemoteDatabase, probed: Probed, configuration: Mapping[str, str]
) -> Iterator[ViewRow]:
    """Yield the rows; of a remote that does not answer the configuration, and what is wrong."""
    if isinstance(definition, RemoteTable) and probed.answer is not None:
        yield from _table(table_of_answer(probed.answer.body))
    yield "# Remote", "", ""
    yield "state", probed.state if probed.state is RemoteState.THERE else f"{probed.state}: {probed.text}", ""
    yield "stands for", str(definition.remote), ""
    yield "via", definition.via, ""
    for key, value in sorted(configuration.items()):
        yield key, value, ""


def _table(table: Table) -> Iterator[ViewRow]:
    for name, kind in table.columns:
        yield name, kind, ""
    if table.partition_keys:
        yield "# Partition Information", "", ""
        for name in table.partition_keys:
            yield name, "", ""
    yield "# Detailed Table Information", "", ""
    yield "Table Type", table.table_type, ""
    yield "Location", table.location or "", ""
    for key, value in sorted(table.parameters.items()):
        yield key, value, ""

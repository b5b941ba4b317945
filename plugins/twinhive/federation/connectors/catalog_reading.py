"""What calls ask of a catalog beyond one lookup: names by patterns and filters, partitions by values or filters."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from twinhive.core.model.names import partition_name, unescape_path_name
from twinhive.core.model.remotes.wildcards import hive_pattern
from twinhive.federation.connector_api.catalog_objects import CatalogPartition, CatalogTable
from twinhive.federation.connector_api.catalogs import Catalog
from twinhive.federation.connectors.client_refusals import RefusedCall
from twinhive.federation.connectors.filters import AllOf, AnyOf, KeyTest, PartitionFilter, parse_filter
from twinhive.federation.connectors.like_patterns import java_like
from twinhive.federation.connectors.partition_pruning import check_filter, lets_through
from twinhive.federation.connectors.read_methods import Arguments

_FIELD, _PARAMETER = "hive_filter_field_", "hive_filter_field_params__"


def table_names(catalog: Catalog, asked: Arguments) -> list[str]:
    """Return the names that a pattern and a type let through."""
    pattern = asked.text("pattern")
    names = [name for name in catalog.table_names(asked.database) if pattern is None or hive_pattern(pattern, name)]
    wanted = asked.text("type")
    if wanted:
        tables = (catalog.table(asked.database, name) for name in names)
        names = [table.name for table in tables if table is not None and table.table_type == wanted]
    return sorted(names)[: asked.most]


def tables_by_name(catalog: Catalog, asked: Arguments) -> list[CatalogTable]:
    """Return the named tables that exist, or those of a pattern."""
    names = asked.texts("names")
    if names is None or asked.has("pattern"):
        names = table_names(catalog, asked)
    found = (catalog.table(asked.database, name.strip().lower()) for name in dict.fromkeys(names))
    return [table for table in found if table is not None]


def filtered_table_names(catalog: Catalog, asked: Arguments) -> list[str]:
    """Return the names of tables that a filter lets through: by name alone without reading any of them."""
    filter_ = parse_filter(asked.text("filter") or "")
    names = sorted(catalog.table_names(asked.database))
    if filter_ is None:
        return names[: asked.most]
    if _names_only(filter_):
        return [name for name in names if _table_passes(filter_, CatalogTableView(name, None))][: asked.most]
    tables = (catalog.table(asked.database, name) for name in names)
    passing = (
        one.name for one in tables if one is not None and _table_passes(filter_, CatalogTableView(one.name, one))
    )
    return list(islice(passing, asked.most))


class CatalogTableView:
    """A table as filters see it."""

    def __init__(self, name: str, table: CatalogTable | None) -> None:
        self._name, self._table = name, table

    def value(self, key: str) -> str | None:
        """Return what a field of a filter stands for. Raises RefusedCall for one that is not known."""
        if key == f"{_FIELD}tablename__":
            return self._name
        assert self._table is not None
        if key == f"{_FIELD}tabletype__":
            return self._table.table_type
        if key == f"{_FIELD}owner__":
            return self._table.owner
        if key.startswith(_PARAMETER):
            lowered = {name.lower(): value for name, value in self._table.parameters.items()}
            return lowered.get(key.removeprefix(_PARAMETER))
        raise RefusedCall("a filter of tables names an unknown field", found=key)


def partitions_asked(catalog: Catalog, table: CatalogTable, asked: Arguments) -> list[CatalogPartition]:
    """Return the partitions that a call wants: by names, by a filter, by values, or all."""
    names = asked.texts("names")
    if names is not None:
        wanted = dict.fromkeys(names)
        found = catalog.partitions(table, names=list(wanted))
        return [one for one in found if name_of(table, one) in wanted]
    return list(islice(_passing(catalog, table, asked), asked.most))


def partition_names_asked(catalog: Catalog, table: CatalogTable, asked: Arguments) -> list[str]:
    """Return the names of partitions, of some values where a call says them."""
    values = asked.texts("values")
    names = sorted(catalog.partition_names(table))
    if values is None:
        return names[: asked.most]
    _check_values(table, values)
    return list(islice((name for name in names if _has_values(values_of(name), values)), asked.most))


def one_partition(catalog: Catalog, table: CatalogTable, asked: Arguments) -> CatalogPartition | None:
    """Return the one partition of all values, or of a name."""
    values = asked.texts("values")
    name = asked.text("name")
    if name is None:
        if values is None or len(values) != len(table.partition_keys):
            raise RefusedCall(
                "the number of values is wrong", found=len(values or ()), expected=f"{len(table.partition_keys)} values"
            )
        name = partition_name(tuple(key.name for key in table.partition_keys), tuple(values))
    return next((one for one in catalog.partitions(table, names=[name]) if name_of(table, one) == name), None)


def name_of(table: CatalogTable, partition: CatalogPartition) -> str:
    """Return a partition's name."""
    return partition_name(tuple(key.name for key in table.partition_keys), partition.values)


def values_of(name: str) -> list[str]:
    """Return the values in a partition's name."""
    return [unescape_path_name(part.partition("=")[2]) for part in name.split("/")]


def types_of(table: CatalogTable) -> Mapping[str, str]:
    """Return the types of a table's partition keys, in lower case."""
    return {key.name.lower(): key.type.lower() for key in table.partition_keys}


def _passing(catalog: Catalog, table: CatalogTable, asked: Arguments) -> Iterator[CatalogPartition]:
    text, values = asked.text("filter"), asked.texts("values")
    filter_ = parse_filter(text or "")
    types = types_of(table)
    if filter_ is not None:
        check_filter(filter_, types)
    if values is not None:
        _check_values(table, values)
    for one in _in_order(table, catalog.partitions(table, filter_=text if filter_ is not None else None)):
        said = dict(zip(types, one.values, strict=True))
        if filter_ is not None and not lets_through(filter_, said, types):
            continue
        if values is None or _has_values(one.values, values):
            yield one


def _in_order(table: CatalogTable, partitions: Sequence[CatalogPartition]) -> list[CatalogPartition]:
    return sorted(partitions, key=lambda one: name_of(table, one))


def _check_values(table: CatalogTable, values: Sequence[str]) -> None:
    if any(values[len(table.partition_keys) :]):
        raise RefusedCall(
            "more values than partition keys", found=len(values), expected=f"at most {len(table.partition_keys)}"
        )


def _has_values(there: Sequence[str], wanted: Sequence[str]) -> bool:
    """Say whether values begin with the wanted ones; an empty one stands for any."""
    return all(not one or one == other for one, other in zip(wanted, there, strict=False))


def _names_only(filter_: PartitionFilter) -> bool:
    if isinstance(filter_, KeyTest):
        return filter_.key == f"{_FIELD}tablename__"
    return all(map(_names_only, filter_.parts))


def _table_passes(filter_: PartitionFilter, table: CatalogTableView) -> bool:
    if isinstance(filter_, AllOf):
        return all(_table_passes(part, table) for part in filter_.parts)
    if isinstance(filter_, AnyOf):
        return any(_table_passes(part, table) for part in filter_.parts)
    value = table.value(filter_.key)
    wanted = [str(one) for one in filter_.literals]
    if filter_.operator == "like":
        return value is not None and java_like(value, wanted[0]) is not filter_.is_negated
    if filter_.operator in ("=", "in"):
        return (value in wanted) is not filter_.is_negated
    if filter_.operator == "<>":
        return value is not None and value != wanted[0]
    raise RefusedCall(
        "a filter of tables compares in a way that is not known", found=f"{filter_.key} {filter_.operator}"
    )

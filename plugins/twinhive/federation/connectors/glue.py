"""AWS Glue's catalog, read with the credentials of this process or of a profile that a definition names."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError, HTTPClientError, IncompleteReadError
from botocore.exceptions import ConnectionError as NotConnected

from twinhive.core.model.errors import InvalidSettings
from twinhive.core.model.names import partition_name
from twinhive.federation.connector_api.catalog_objects import CatalogDatabase, CatalogPartition, CatalogTable
from twinhive.federation.connector_api.catalogs import ConnectorPlace
from twinhive.federation.connectors.catalog_reading import types_of, values_of
from twinhive.federation.connectors.client_refusals import RefusedCall
from twinhive.federation.connectors.connector_context import ConnectorContext
from twinhive.federation.connectors.filters import parse_filter
from twinhive.federation.connectors.glue_objects import database_of, partition_of, table_of
from twinhive.federation.connectors.partition_pruning import glue_expression
from twinhive.federation.connectors.web_addresses import is_web_address

REGION, ENDPOINT, PROFILE = "aws.region", "aws.glue.endpoint", "aws.profile"
CATALOG_ID: Final = "hive.metastore.glue.catalogid"
_MOST_EXPRESSION: Final = 2048
_MOST_NAMES: Final = 1000
_MISSING: Final = "EntityNotFoundException"
_FOR_NOW: Final = frozenset(
    {"ThrottlingException", "InternalServiceException", "OperationTimeoutException", "ServiceUnavailable", "503"}
)


@dataclass(frozen=True)
class GlueConnector:
    """Make catalogs of Glue."""

    connect_seconds: float = 2.0
    read_seconds: float = 30.0

    def place(self, properties: Mapping[str, str]) -> ConnectorPlace:
        """Say which region or endpoint, whose catalog, and whose profile is used. Raises InvalidSettings."""
        endpoint = properties.get(ENDPOINT, "").strip()
        if endpoint and not is_web_address(endpoint):
            raise InvalidSettings(
                f"a remote's {ENDPOINT} cannot be read",
                found=endpoint,
                expected="https://host",
                next_step=f"create the remote again; without {ENDPOINT} it is that of {REGION}",
            )
        where = endpoint or f"glue://{properties.get(REGION, 'default').strip()}"
        told = (properties.get(key, "").strip() for key in (CATALOG_ID, PROFILE))
        key = "/".join((where, *told))
        profile = properties.get(PROFILE, "").strip()
        addresses = (where, f"aws-profile:{profile}") if profile else (where,)
        return ConnectorPlace(key=f"{properties.get(REGION)} {key}", name=key.rstrip("/"), addresses=addresses)

    def catalog(self, properties: Mapping[str, str]) -> "GlueCatalog":
        """Make a catalog. Raises InvalidSettings where there is no such profile, or no region."""
        config = Config(
            connect_timeout=self.connect_seconds,
            read_timeout=self.read_seconds,
            retries={"total_max_attempts": 3, "mode": "standard"},
        )
        try:
            session = boto3.Session(
                profile_name=properties.get(PROFILE, "").strip() or None,
                region_name=properties.get(REGION, "").strip() or None,
            )
            client = session.client("glue", endpoint_url=properties.get(ENDPOINT, "").strip() or None, config=config)
        except (BotoCoreError, ValueError) as error:
            raise InvalidSettings(
                "AWS cannot be asked with what the remote says",
                found=error,
                expected=f"a profile of this machine in {PROFILE}, a region in {REGION}",
                next_step="create the remote again, or complete ~/.aws/config where the gateway runs",
            ) from error
        return GlueCatalog(client, properties.get(CATALOG_ID, "").strip())


def connector(context: ConnectorContext) -> GlueConnector:
    """Make the connector."""
    return GlueConnector(context.connect_seconds)


class GlueCatalog:
    """Read one account's catalog."""

    def __init__(self, client: Any, catalog_id: str = "") -> None:
        self._client = client
        self._always = {"CatalogId": catalog_id} if catalog_id else {}

    def database(self, name: str) -> CatalogDatabase | None:
        """Return a database."""
        found = self._one(self._client.get_database, Name=name)
        return None if found is None else database_of(found["Database"])

    def table_names(self, database: str) -> list[str]:
        """Return the names of all tables and views."""
        return [one["Name"].lower() for one in self._pages("get_tables", "TableList", DatabaseName=database)]

    def table(self, database: str, name: str) -> CatalogTable | None:
        """Return a table or a view."""
        found = self._one(self._client.get_table, DatabaseName=database, Name=name)
        return None if found is None else table_of(database, found["Table"])

    def partition_names(self, table: CatalogTable) -> list[str]:
        """Return the names of all partitions; their columns are not read."""
        keys = tuple(key.name for key in table.partition_keys)
        answers = self._partitions(table, {"ExcludeColumnSchema": True}) if keys else ()
        return [partition_name(keys, tuple(one["Values"])) for one in answers]

    def partitions(
        self, table: CatalogTable, *, names: Sequence[str] | None = None, filter_: str | None = None
    ) -> list[CatalogPartition]:
        """Return partitions; a filter goes to Glue as far as Glue understands it."""
        if not table.partition_keys:
            return []
        if names is not None:
            return [partition_of(one) for one in self._by_names(table, names)]
        parsed = None if filter_ is None else parse_filter(filter_)
        expression = None if parsed is None else glue_expression(parsed, types_of(table))
        asked = {"Expression": expression} if expression and len(expression) <= _MOST_EXPRESSION else {}
        return [partition_of(one) for one in self._partitions(table, asked)]

    def _partitions(self, table: CatalogTable, asked: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
        where = {"DatabaseName": table.database, "TableName": table.name}
        return self._pages("get_partitions", "Partitions", **where, **asked)

    def _by_names(self, table: CatalogTable, names: Sequence[str]) -> Iterator[Mapping[str, Any]]:
        values = (values_of(name) for name in names)
        left = [{"Values": one} for one in values if len(one) == len(table.partition_keys) and all(one)]
        while left:
            wanted, left = left[:_MOST_NAMES], left[_MOST_NAMES:]
            answer = self._one(
                self._client.batch_get_partition,
                DatabaseName=table.database,
                TableName=table.name,
                PartitionsToGet=wanted,
            )
            yield from (answer or {}).get("Partitions", ())
            unread = (answer or {}).get("UnprocessedKeys", [])
            if len(unread) == len(wanted):
                raise ConnectionError(f"Glue read none of {len(wanted)} partitions of {table.database}.{table.name}")
            left = unread + left

    def _one(self, call: Callable[..., Mapping[str, Any]], **asked: Any) -> Mapping[str, Any] | None:
        """Return an answer, None where an object is not there."""
        with _translated():
            try:
                return call(**self._always, **asked)
            except ClientError as error:
                if error.response["Error"]["Code"] == _MISSING:
                    return None
                raise

    def _pages(self, method: str, part: str, **asked: Any) -> Iterator[Mapping[str, Any]]:
        """Yield what all pages hold; nothing where an object is not there."""
        pages: Iterable[Mapping[str, Any]] = self._client.get_paginator(method).paginate(**self._always, **asked)
        left = iter(pages)
        while page := self._one(lambda **_: next(islice(left, 1), {})):
            yield from page[part]


@contextmanager
def _translated() -> Iterator[None]:
    """Turn what boto3 raises into what a catalog raises."""
    try:
        yield
    except ClientError as error:
        text = f"Glue: {error.response['Error'].get('Message') or error}"
        if error.response["Error"]["Code"] in _FOR_NOW:
            raise ConnectionError(text) from error
        raise RefusedCall(text) from error
    except (HTTPClientError, NotConnected, IncompleteReadError) as error:
        raise ConnectionError(f"Glue: {error}") from error
    except BotoCoreError as error:
        raise RefusedCall(f"Glue: {error}") from error

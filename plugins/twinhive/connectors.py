"""For a connector of one's own, which shows another catalog as a remote: what it implements. See docs/connectors.md."""

from twinhive.core.model.errors import InvalidSettings, Unreachable
from twinhive.federation.connector_api.byte_links import connected
from twinhive.federation.connector_api.catalog_objects import CatalogColumn, CatalogStorage, CatalogTable
from twinhive.federation.connector_api.catalogs import Catalog, ConnectorPlace

__all__ = [
    "Catalog",
    "CatalogColumn",
    "CatalogStorage",
    "CatalogTable",
    "ConnectorPlace",
    "InvalidSettings",
    "Unreachable",
    "connected",
]

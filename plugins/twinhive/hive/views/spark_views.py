"""What Spark notes of a view: the session's catalog and database when it was made, in which names of its text are."""

from typing import Final

from twinhive.core.model.objects import Parameters

PARTS, CATALOG, DATABASE = (f"view.catalogAndNamespace.{name}" for name in ("numParts", "part.0", "part.1"))
SPARK_2_DATABASE: Final = "view.default.database"
OWN_CATALOGS: Final = ("hive", "spark_catalog")
"""What the catalog of the metastore itself is called by its clients."""


def database_of_view(parameters: Parameters, own: str) -> str | None:
    """Return the database of names without one in a view's text; None where they are another catalog's.

    `own` is the view's: Hive writes all names out, and says nothing.
    """
    if PARTS not in parameters:
        return parameters.get(SPARK_2_DATABASE, own).lower()
    if parameters[PARTS] != "2" or parameters.get(CATALOG, "").lower() not in OWN_CATALOGS:
        return None
    return parameters.get(DATABASE, own).lower()

"""Say where the one statement of a task runs; what would put files on another cluster than its table is refused."""

from dataclasses import dataclass

from twinhive.core.model.errors import ActNow
from twinhive.core.model.names import TableName
from twinhive.federation.routing.cluster_choice import Nowhere
from twinhive.federation.routing.refusing import refusal, said
from twinhive.federation.routing.script import statements_of
from twinhive.federation.routing.statement_reading import read_statement
from twinhive.runtime.settings import Configuration
from twinhive.runtime.wiring.cluster_port_wiring import sight_of
from twinhive.runtime.wiring.routing_wiring import RoutingWiring


@dataclass(frozen=True)
class RoutedSql:
    """One statement, and where it runs. `passed_over` says what other clusters lack."""

    sql: str
    database: str
    cluster: str
    why: str
    passed_over: tuple[str, ...] = ()


@dataclass(frozen=True)
class WaitsForCopy:
    """A statement that can run when a copy is there, which a placement makes."""

    refused: ActNow


@dataclass(frozen=True)
class RefusedSql:
    """A statement that can run nowhere before a person has acted."""

    refused: ActNow


def routed_sql(
    configuration: Configuration, wiring: RoutingWiring, sql: str, database: str, cluster: str | None
) -> RoutedSql | WaitsForCopy | RefusedSql:
    """Say where the one statement of a text is to be run. Raises ActNow for a text that holds none, or several."""
    known = wiring.clusters.known
    statements = list(statements_of(sql, database.lower(), cluster and known(cluster), known))
    if len(statements) != 1:
        raise ActNow(
            "a task runs one statement",
            found=f"{len(statements)} statements",
            expected="one; USE CLUSTER and USE may stand before it",
            next_step="make a task of each of them",
        )
    [one] = statements
    uses, found = read_statement(one.sql, one.database), wiring.resolver()
    routed = found.route(uses, one.cluster)
    if isinstance(routed, Nowhere):
        copied = any(each.missing and wiring.placement_of(each).copies for each in routed.tried)
        return (WaitsForCopy if copied else RefusedSql)(refusal(routed, wiring.placement_of))
    # One that names a place of its own is `unknown`, and its cluster was named by a person.
    for table in [] if uses.unknown else found.new_tables(uses):
        if refused := _would_lie_elsewhere(configuration, wiring, table, routed.cluster):
            return RefusedSql(refused)
    passed_over = tuple(map(said, routed.passed_over))
    return RoutedSql(one.sql, one.database, routed.cluster, str(routed.why), passed_over)


def _would_lie_elsewhere(
    configuration: Configuration, wiring: RoutingWiring, table: TableName, cluster: str
) -> ActNow | None:
    """Say why a new table's files would not be on its cluster: only the port of that cluster puts them there."""
    if cluster == wiring.clusters.default:
        return None
    sight = sight_of(configuration, wiring, cluster)
    database = wiring.metastore.database(table.database)
    has_port = bool(configuration.clusters[cluster].gateway.uris)
    if has_port and database is not None and sight.root_of_new_tables(database.parameters):
        return None
    first = (
        sight.way_to_a_root(table.database)
        if has_port
        else f"let its jobs ask at its port of the gateway: clusters.{cluster}.gateway.uris in clusters.yaml"
    )
    return ActNow(
        f"{table} would belong to {cluster}, and its files would lie on {wiring.clusters.default}",
        found=f"a statement that runs on {cluster}, and a table that is not there yet",
        expected=f"a table that exists, or a place for new ones of {table.database} on {cluster}",
        next_step=f"{first}; or create it first with LOCATION on {cluster} and "
        f"TBLPROPERTIES ('twinhive.cluster' = '{cluster}')",
    )

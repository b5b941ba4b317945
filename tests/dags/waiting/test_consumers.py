"""Which assets get events, and that the DAGs of docs/consumers.md run: in this process, over clusters in memory."""

import re
from pathlib import Path
from typing import Any

import pytest
from airflow.models.asset import AssetEvent, AssetModel
from airflow.providers.standard.operators.empty import EmptyOperator
from airflow.sdk import DAG, Asset, PartitionedAssetTimetable
from airflow.utils.session import create_session
from sqlalchemy import delete, select

from tests.dags.airflow_home import CHECKOUT, parse_dags, register
from tests.support.builders import a_table
from tests.support.policies import PolicyFiles
from tests.support.users.source_writer import SourceWriter
from tests.support.worlds.fake_world import World
from twinhive.core.model.names import TableName
from twinhive.publishing.sets.marking_sets import MarkSet
from twinhive.runtime.pipeline.phases import BOOTSTRAP
from twinhive.runtime.pipeline.runner import run_bootstrap, run_passes, run_phase

TABLES = "twinhive://west/sales/"


class Announced:
    """A policy that announces tables, its DAGs, and the events of assets that their runs leave."""

    def __init__(self, world: World, policies: PolicyFiles, monkeypatch: pytest.MonkeyPatch) -> None:
        self.world = world
        self.policies = policies
        self._monkeypatch = monkeypatch
        self.add()

    def add(self, *announced: str, **external: Any) -> None:
        said = {"external_tables": external or {"include": False}, "options": {"rest_events": 0}}
        self.policies.add("sales", announced_tables=list(announced), **said)
        self._monkeypatch.setenv("TWINHIVE_CONFIG", str(self.policies.directory))

    def load(self) -> None:
        run_bootstrap(self.policy, self.world.ports(), {"run": "b"}, lambda line: None)

    @property
    def policy(self) -> Any:
        return self.policies.wiring("sales").policy

    def write(self, table: str) -> None:
        SourceWriter(self.world.source, self.world.source_files, "sales").insert(table, None, [b"more"])

    def sets(self, phase: str) -> set[str]:
        """Run a DAG; return the partition keys that its run leaves for those who wait for sets of orders."""
        self.run(phase)
        with create_session() as session:
            where = AssetModel.uri == "twinhive-set://west/sales/orders"
            return set(session.scalars(select(AssetEvent.partition_key).join(AssetEvent.asset).where(where)))

    def run(self, phase: str, **conf: Any) -> dict[str, dict[str, Any]]:
        """Run a DAG; return the extra of each event by asset, tables of the replica by their name."""
        with create_session() as session:
            session.execute(delete(AssetEvent))
        assert str(parse_dags(self.policies.directory)[f"sales.{phase}"].test(run_conf=conf).state) == "success"
        with create_session() as session:
            found = session.execute(select(AssetModel.uri, AssetEvent.extra).join(AssetEvent.asset)).all()
        return {uri.removeprefix(TABLES): extra for uri, extra in found if uri.startswith("twinhive://")}

    @property
    def at(self) -> int:
        return int(self.world.replica.database("sales").parameters["repl.last.id"])


@pytest.fixture
def announced(world: World, policies: PolicyFiles, monkeypatch: pytest.MonkeyPatch) -> Announced:
    return Announced(world, policies, monkeypatch)


def tables(events: dict[str, dict[str, Any]]) -> set[str]:
    return {name for name in events if "://" not in name}


def test_without_announced_tables_only_the_database_has_events(announced: Announced) -> None:
    announced.load()
    announced.write("plain")
    assert announced.run("incremental") == {"twinhive://west/sales": {"event_id": announced.at}}


def test_a_window_announces_the_listed_tables_that_it_concerned_and_an_idle_or_dry_run_nothing(
    announced: Announced,
) -> None:
    announced.add("PLAIN", "or.*", "empty")
    announced.load()
    announced.write("plain")
    SourceWriter(announced.world.source, announced.world.source_files, "sales").create_table("other")
    assert announced.run("incremental", dry_run=True) == {}
    events = announced.run("incremental")
    assert tables(events) == {"plain"}
    assert events["plain"] == {"event_id": announced.at}
    assert announced.run("incremental") == {}


def test_a_load_announces_all_that_are_listed(announced: Announced) -> None:
    announced.add("plain", "orders", "no_such_table")
    run_phase(BOOTSTRAP, announced.policy, announced.world.ports(), {"run": "b"}, lambda line: None)
    assert tables(announced.run("consolidate")) == {"plain", "orders"}


def test_a_quarantined_table_says_so_in_its_event_and_in_that_of_the_database(announced: Announced) -> None:
    announced.add(".*")
    announced.load()
    announced.write("plain")
    database = announced.world.replica.database("sales")
    frozen = {**database.parameters, "twinhive.quarantine.plain": "12 no room"}
    announced.world.replica.set_database_parameters("sales", frozen)
    events = announced.run("incremental")
    assert events["plain"] == {"event_id": announced.at, "quarantined": "12 no room", "incomplete": True}
    assert events["twinhive://west/sales"]["quarantined"] == ["plain"]


def test_a_dropped_table_has_no_event(announced: Announced) -> None:
    announced.add(".*")
    announced.load()
    [table] = announced.world.source.tables("sales", ["plain"])
    announced.world.source.drop_table(table.name, delete_data=True)
    assert tables(announced.run("incremental")) == set()


def test_an_external_table_is_announced_when_its_data_has_come(announced: Announced) -> None:
    announced.add(".*", base_directory="hdfs://west/external")
    announced.world.source_files.put("hdfs://east/outside/part-0", b"rows")
    announced.load()
    table = a_table("sales.clicks", table_type="EXTERNAL_TABLE", location="hdfs://east/clicks")
    announced.world.source.create_table(table)
    announced.world.source_files.put("hdfs://east/clicks/part-0", b"rows")
    events = announced.run("incremental")
    assert "clicks" not in tables(events)
    assert events["twinhive://west/sales"]["pending"] == ["clicks"]
    run_passes(announced.policy, announced.world.ports(), {"run": "x"}, lambda line: None)
    # No event of the log tells of it.
    assert announced.run("incremental") == {"clicks": {"event_id": announced.at}}


def test_a_run_announces_each_set_that_it_shows_once_and_a_table_that_is_not_listed_has_none(
    announced: Announced,
) -> None:
    source = announced.world.source
    announced.policies.add("sales", announced_sets=["ORDERS"], external_tables={"include": False})
    with DAG("a_day", schedule=PartitionedAssetTimetable(assets=Asset("twinhive-set://west/sales/orders"))) as consumer:
        EmptyOperator(task_id="report")
    register(consumer)
    announced.load()
    for table, text in (("orders", "p=a b"), ("orders", "*"), ("plain", "*")):
        MarkSet(TableName("sales", table), text, "t").run(source)
    assert announced.sets("incremental") == {"p=a b", "*"}
    assert announced.sets("incremental") == set()
    MarkSet(TableName("sales", "orders"), "*", "another").run(source)
    announced.write("plain")
    assert announced.sets("incremental") == {"*"}
    shown = announced.world.replica.table(TableName("sales", "twinhive_sets"))
    announced.world.replica.drop_table(shown.name, delete_data=True)
    announced.world.replica.create_table(a_table("sales.twinhive_sets"))
    assert announced.sets("incremental") == set()


def examples() -> list[str]:
    text = (CHECKOUT / "docs" / "consumers.md").read_text(encoding="utf-8")
    return re.findall(r"```python\n(.*?)```", text, re.DOTALL)


def test_the_dags_of_the_documentation_are_parsed_without_any_server_and_run(
    announced: Announced, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    from airflow.dag_processing.dagbag import DagBag

    folder = tmp_path / "examples"
    folder.mkdir()
    for number, example in enumerate(examples()):
        (folder / f"example_{number}.py").write_text(example, encoding="utf-8")
    announced.world.source.down = announced.world.replica.down = True
    bag = DagBag(str(folder))
    announced.world.source.down = announced.world.replica.down = False
    by_sets = {"load_orders", "report_on_a_day_of_orders", "report_on_each_day_on_west", "hears_of_sales"}
    assert bag.import_errors == {} and set(bag.dags) == {"report_on_orders", "nightly_report", *by_sets}
    announced.load()
    nightly = bag.dags["nightly_report"]
    register(nightly)
    assert str(nightly.test().state) == "success"
    assert [asset.uri for asset in bag.dags["report_on_orders"].schedule] == ["twinhive://west/sales/orders"]

"""Where a client wants some fields of tables only, each is still judged by its name and its marks, or is absent."""

import asyncio
from typing import Any

import pytest
from hive_metastore import ttypes

from tests.support.hive.thrift_memory_metastore import SpokenMetastore
from tests.support.wire.wire_messages import answer, decoded, struct_class
from tests.unit.federation.cluster_view.test_ports import ABSENT, a_settled_world, clients, the_port
from twinhive.core.model import thrift_objects as objects
from twinhive.core.model.names import TableName
from twinhive.hive.adapters.hive.thrift_json import struct_of

ASKED: list[list[str]] = []


class OfFields(SpokenMetastore):
    """Gives what is wanted of a table, as Hive does: all of it where its parameters are among that."""

    def get_table_objects_by_name_req(self, req: Any) -> Any:
        fields = req.projectionSpec.fieldList
        ASKED.append(fields)
        table = self._of.table(TableName(req.dbName, req.tblNames[0]))
        assert table is not None
        whole = struct_of(ttypes.Table, objects.fresh_table(table))
        some = ttypes.Table(sd=ttypes.StorageDescriptor(location=whole.sd.location))
        return ttypes.GetTablesResult([whole if "parameters" in fields else some])


@pytest.mark.parametrize("fields", [["sd.location", "parameters"], ["sd.location"], ["tableName", "sd.location"]])
def test_a_table_is_judged_whatever_is_asked_for(monkeypatch: pytest.MonkeyPatch, fields: list[str]) -> None:
    monkeypatch.setattr("tests.unit.federation.cluster_view.test_ports.SpokenMetastore", OfFields)
    ASKED.clear()
    world = a_settled_world()
    with clients(world, the_port(world)) as (client, _):
        spec = ttypes.GetProjectionsSpec(fieldList=fields)
        asked = ttypes.GetTablesRequest("sales", ["plain"], projectionSpec=spec)
        fresh = client.get_table_objects_by_name_req(asked).tables[0]
        assert fresh.sd.location == world.fresh()["plain"].location
        world.users.set_parameters("plain", {"x": "y"})
        stale = client.get_table_objects_by_name_req(asked).tables[0]
        assert stale.sd.location.startswith(ABSENT)
    assert [sorted(one) for one in ASKED] == [["dbName", "parameters", "sd.location", "tableName"]] * 2


@pytest.mark.parametrize("named", [{}, {"tableName": "plain"}, {"dbName": "sales"}])
def test_what_has_no_name_has_no_copy(named: dict[str, str]) -> None:
    world = a_settled_world()
    table = world.users.table("plain")
    sd = ttypes.StorageDescriptor(location=table.location)
    some = ttypes.Table(sd=sd, parameters=dict(table.parameters), **named)
    message = answer("get_table_objects_by_name_req", ttypes.GetTablesResult([some]))
    shown = asyncio.run(the_port(world).shown(message))
    (found,) = decoded(struct_class(shown), shown.body).success.tables
    assert found.sd.location.startswith(ABSENT)

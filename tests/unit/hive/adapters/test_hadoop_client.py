"""A client of HDFS is quick with small files, and no less patient with a busy DataNode than Hadoop's own defaults."""

from collections.abc import Mapping

import pytest

from sandbox.configuration import hadoop_client
from sandbox.ports import PortBlock
from twinhive.hive.adapters.hdfs.hadoop_client import CLIENT_SETTINGS

_OPTION = "dfs.client.block.write.locateFollowingBlock"
_HADOOP_WAITS = sum(400 * 2**number for number in range(5))
"""Milliseconds: 5 tries, after 400 ms and twice as long each time (hdfs-default.xml)."""


@pytest.mark.parametrize(
    "settings", [CLIENT_SETTINGS, hadoop_client("east", PortBlock(20_000))], ids=["ours", "sandbox"]
)
def test_a_file_is_closed_though_its_datanode_reports_late(settings: Mapping[str, str]) -> None:
    first, tries = int(settings[f"{_OPTION}.initial.delay.ms"]), int(settings[f"{_OPTION}.retries"])
    assert first < 10
    assert sum(first * 2**number for number in range(tries)) > _HADOOP_WAITS

import gzip

from tests.support.builders import a_partition, a_table
from twinhive.replication.dump.shards import TableRecord, decode_objects, encode_objects, pack_lines, unpack_lines


def test_objects_come_back_as_they_were() -> None:
    table = a_table(partition_keys=("p",), parameters={"ä": "b\nc"}, thrift='{"1":{"str":"orders"}}')
    records = [
        TableRecord(table, (a_partition(table, "Zürich #1"), a_partition(table, "50%")), True, 3, 9),
        TableRecord(a_table("sales.empty"), (), False, 3, 9),
    ]
    assert decode_objects(encode_objects(records)) == records


def test_line_separators_inside_values_do_not_cut_lines() -> None:
    lines = ['{"a":"x\u2028y\x85z"}', '{"b":1}']
    assert list(unpack_lines(pack_lines(lines))) == lines


def test_a_half_of_a_pair_in_a_name_is_kept() -> None:
    assert list(unpack_lines(pack_lines(["a\ud83db"]))) == ["a\ud83db"]


def test_equal_lines_give_equal_bytes_that_zcat_reads() -> None:
    assert pack_lines(["a"])[4:8] == bytes(4), "gzip would write the time there"
    assert gzip.decompress(pack_lines(["a", "b"])) == b"a\nb\n"

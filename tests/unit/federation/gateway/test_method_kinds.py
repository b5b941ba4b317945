"""Every method of the metastore has its kind: a new one is decided by a person, and refused until then."""

from twinhive.federation.gateway.method_kinds import KIND_OF, MethodKind
from twinhive.hive.wire.method_table import METHODS
from twinhive.hive.wire.roles import Role

_NAMES = (Role.TABLE, Role.DATABASE, Role.FULL_NAME)


def test_all_methods_of_the_server_have_a_kind_and_no_other() -> None:
    assert METHODS.keys() ^ KIND_OF.keys() == set()


def test_what_names_nothing_is_asked_of_nobody_by_name() -> None:
    by_name = (MethodKind.READ, MethodKind.WRITE, MethodKind.TABLE_DROP)
    nameless = {
        name for name, kind in KIND_OF.items() if kind in by_name and not METHODS[name].asks_for(*_NAMES, Role.FUNCTION)
    }
    assert nameless == set()


def test_a_read_begins_as_reads_do_and_a_write_does_not() -> None:
    reads = {name for name, kind in KIND_OF.items() if kind is MethodKind.READ}
    assert {name for name in reads if not name.startswith(("get_", "fetch_", "find_package", "isPartition"))} == set()
    writes = {name for name, kind in KIND_OF.items() if kind is MethodKind.WRITE}
    assert {name for name in writes if name.startswith(("get_", "fetch_"))} == {"get_lock_materialization_rebuild"}

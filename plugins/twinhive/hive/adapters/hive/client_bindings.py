"""Hive's generated code: mended where it cannot read what a metastore stores, and without its server's half."""

from hive_metastore import ThriftHiveMetastore, ttypes
from thrift.TRecursive import fix_spec


def read_lists_that_are_keys() -> None:
    """Read the locations of skewed values with tuples as keys: the generated code makes lists, which no dict takes.

    Of one such table, no answer that holds it could be read. The decoder in C goes by the description of the struct.
    """
    spec = ttypes.SkewedInfo.thrift_spec
    *others, (number, kind, name, (key_kind, (item_kind, item, _), *values), default) = spec
    ttypes.SkewedInfo.thrift_spec = (
        *others,
        (number, kind, name, (key_kind, (item_kind, item, True), *values), default),
    )
    fix_spec([ttypes.StorageDescriptor])
    # Where the decoder in C is not there: what is generated for the other one makes lists as well.
    ttypes.SkewedInfo.read = lambda struct, protocol: protocol.readStruct(struct, struct.thrift_spec)


def keep_client_alone() -> None:
    """Forget the code that serves a metastore's calls: nothing of ours does, and what comes next takes its memory.

    It is worth 1.5 MB when it is called before anything else is loaded.
    """
    if hasattr(ThriftHiveMetastore, "Processor"):
        del ThriftHiveMetastore.Processor

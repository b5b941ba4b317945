"""Tell by its name what a job has not finished: Hive's, Spark's and MapReduce's, and what puts files one by one."""

_PREFIXES = ("_temporary", ".hive-staging", ".spark-staging", "_twinhive", ".distcp.tmp.")
_SUFFIX = "._COPYING_"


def is_unfinished(name: str) -> bool:
    """True for the name of a directory or a file that its writer renames, or removes, when it is done."""
    return name.startswith(_PREFIXES) or name.endswith(_SUFFIX)

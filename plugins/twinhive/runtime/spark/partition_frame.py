"""A data frame of Spark as what a write of partitions needs."""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from twinhive.core.model.errors import ActNow, TryAgain
from twinhive.publishing.partition_writes.frame_schema import FittedColumn
from twinhive.publishing.partition_writes.write_target import WriteTarget
from twinhive.runtime.spark.job_outcome import causes

T = TypeVar("T")
_NOT_THE_TABLES = "the row cannot be held by the table"


class SparkFrame:
    """Rows of a Spark data frame. Its session's settings are as they were after each call."""

    def __init__(self, frame: DataFrame) -> None:
        self._frame = frame
        self._session: SparkSession = frame.sparkSession

    def columns(self) -> Sequence[tuple[str, str]]:
        """Return the columns as (name, Spark's simple type)."""
        return [(field.name, field.dataType.simpleString()) for field in self._frame.schema.fields]

    def write(self, directory: str, target: WriteTarget, columns: Sequence[FittedColumn], file_bytes: int) -> None:
        """Write all rows below a directory, `key=value/...`, in files of about so many bytes of shuffled rows."""
        rows = self._frame.select(*(_of_the_table(column) for column in columns))
        self._save(rows, directory, target, file_bytes, f"writing rows for {target.table.name}")

    def rewrite(self, base: str, paths: Sequence[str], directory: str, target: WriteTarget, file_bytes: int) -> None:
        """Write the rows of files below `base` again below another directory."""
        rows = self._read(base, paths, target)
        # A limit on the rows of a file is what may have made small ones.
        with _with_settings(self._session, {"spark.sql.files.maxRecordsPerFile": "0"}):
            self._save(rows, directory, target, file_bytes, f"merging small files of {target.table.name}")

    def rows(self, base: str, paths: Sequence[str], target: WriteTarget) -> dict[tuple[str, ...], int]:
        """Return how many rows these files below `base` have, by the values of their partition."""
        keys = [F.coalesce(F.col(_quoted(key)), F.lit("")) for key in target.key_names]
        counted = self._run(
            lambda: self._read(base, paths, target).groupBy(*keys).count().collect(),
            f"counting rows of {target.table.name}",
        )
        return {tuple(row[:-1]): row[-1] for row in counted}

    def _read(self, base: str, paths: Sequence[str], target: WriteTarget) -> DataFrame:
        # Keys are read as the texts they are in names of directories: nothing is guessed, nothing reformatted.
        schema = ", ".join(
            [f"{_quoted(name)} {_spark_type(kind)}" for name, kind in target.columns]
            + [f"{_quoted(name)} string" for name in target.key_names]
        )
        reader = self._session.read.format(target.format).schema(schema).option("basePath", base)
        return reader.load(list(paths))

    def _save(self, rows: DataFrame, directory: str, target: WriteTarget, file_bytes: int, doing: str) -> None:
        keys = list(target.key_names)
        gathered = rows.hint("rebalance", *(F.col(_quoted(key)) for key in keys))
        writer = gathered.write.format(target.format).partitionBy(*keys).mode("errorifexists")
        settings = {
            "spark.sql.adaptive.enabled": "true",  # else the hint says nothing
            "spark.sql.adaptive.advisoryPartitionSizeInBytes": str(file_bytes),
        }
        with _with_settings(self._session, settings):
            self._run(lambda: writer.save(directory), doing)

    def _run(self, work: Callable[[], T], doing: str) -> T:
        try:
            return work()
        # Not every failure of Java's side becomes one of Spark's own: a task that cannot write does not.
        except (PySparkException, Py4JError) as error:
            said = causes(str(error))
            if _NOT_THE_TABLES in str(error):
                raise ActNow(
                    f"{doing}: {_NOT_THE_TABLES}",
                    found=said,
                    expected="texts as long as the table's columns allow, or shorter",
                    next_step="cut or leave out such rows, then repeat the job",
                ) from error
            raise TryAgain(
                f"{doing} failed",
                found=said,
                expected="a Spark job that runs to its end",
                next_step="repeat the job: it goes on",
            ) from error


def _of_the_table(column: FittedColumn) -> Column:
    value = F.col(_quoted(column.source))
    if (longest := column.longest) is not None:
        text = F.concat(F.lit(f"{_NOT_THE_TABLES}: {column.name} is {column.type}, found: "), value)
        value = F.when(F.length(value) > longest, F.raise_error(text)).otherwise(value)
    return value.cast(_spark_type(column.type)).alias(column.name)


def _spark_type(kind: str) -> str:
    """Return what Spark calls a type of Hive: in a schema it knows texts without a limit alone."""
    return re.sub(r"\b(var)?char\s*\(\s*\d+\s*\)", "string", kind, flags=re.IGNORECASE)


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


@contextmanager
def _with_settings(session: SparkSession, settings: dict[str, str]) -> Iterator[None]:
    before = {key: session.conf.get(key, None) for key in settings}
    for key, value in settings.items():
        session.conf.set(key, value)
    try:
        yield
    finally:
        for key, text in before.items():
            if text is None:
                session.conf.unset(key)
            else:
                session.conf.set(key, text)

"""Write the rows of a query as partitions of a table: submitted by spark-submit, its settings the only argument.

Exit codes are those of `twinhive.core.model.exit_codes.ExitCode`.
"""

from pathlib import Path

from pyspark.errors import AnalysisException, ParseException
from pyspark.sql import DataFrame, SparkSession

from twinhive.core.model.errors import ActNow
from twinhive.core.model.exit_codes import ExitCode
from twinhive.core.model.text import Clear
from twinhive.runtime.spark.executors import submitted
from twinhive.runtime.spark.job_outcome import causes, leave, teller
from twinhive.runtime.spark.partition_writes import write_partitions
from twinhive.runtime.spark.write_settings import WriteJobSettings

NAME = "write_partitions"
tell = teller(NAME)


def run(path: Path) -> int:
    """Write what the settings say."""
    settings = WriteJobSettings.parse(submitted(path))
    with SparkSession.builder.appName(settings.label).getOrCreate() as spark:
        written = write_partitions(
            rows_of(spark, settings),
            settings.table,
            metastore=settings.metastore,
            job=settings.job,
            mode=settings.mode,
            small_files=settings.small_files,
            set_done=settings.set_done,
            clearing=settings.clearing,
            user=settings.user,
            report=tell,
        )
    tell(f"{written.partitions:,} partitions, {written.files:,} files, {written.length:,} bytes")
    return ExitCode.DONE


def rows_of(spark: SparkSession, settings: WriteJobSettings) -> DataFrame:
    """Return the rows of the query. Raises ActNow for one that Spark does not understand."""
    try:
        for view, options in settings.rows.inputs.items():
            reader = spark.read.options(**{key: text for key, text in options.items() if key not in ("format", "path")})
            reader.format(options["format"]).load(options["path"]).createOrReplaceTempView(view)
        return spark.sql(settings.rows.sql)
    except (ParseException, AnalysisException, KeyError) as error:
        raise ActNow(
            f"the query for {settings.table} cannot be run",
            found=causes(str(error)) or str(error),
            expected="a query of Spark SQL; each of its inputs with format and path",
            next_step="correct it, then " + Clear("this task"),
        ) from error


if __name__ == "__main__":
    leave(NAME, run)

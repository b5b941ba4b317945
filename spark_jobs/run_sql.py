"""Run one statement of SQL: submitted by spark-submit to the cluster that was chosen for it.

Its settings are the only argument. Exit codes are those of `twinhive.core.model.exit_codes.ExitCode`.
"""

import json
from pathlib import Path

from pyspark.errors import AnalysisException, ParseException
from pyspark.sql import SparkSession

from twinhive.core.model.errors import ActNow
from twinhive.core.model.exit_codes import ExitCode
from twinhive.core.model.text import Clear
from twinhive.runtime.spark.executors import submitted
from twinhive.runtime.spark.job_outcome import causes, leave, teller
from twinhive.runtime.spark.sql_settings import SqlJobSettings

NAME = "run_sql"
tell = teller(NAME)


def run(path: Path) -> int:
    """Run what the settings say."""
    settings = SqlJobSettings.parse(submitted(path))
    with SparkSession.builder.appName(settings.label).getOrCreate() as spark:
        execute(spark, settings)
    return ExitCode.DONE


def execute(spark: SparkSession, settings: SqlJobSettings) -> None:
    """Run the statement, and tell the first rows of its answer. Raises ActNow for one that Spark refuses."""
    try:
        spark.catalog.setCurrentDatabase(settings.database)
        answer = spark.sql(settings.sql)
        rows = answer.take(settings.rows) if answer.columns else []
    except (ParseException, AnalysisException) as error:
        raise ActNow(
            "the statement cannot be run",
            found=causes(str(error)) or str(error),
            expected="a statement of Spark SQL, tables and columns that exist",
            next_step="correct it, then " + Clear("this task"),
        ) from error
    for row in rows:
        tell(json.dumps(row.asDict(recursive=True), default=str, ensure_ascii=False))
    tell(f"done, {len(rows):,} rows shown" if answer.columns else "done")


if __name__ == "__main__":
    leave(NAME, run)

"""Run one statement of SQL: submitted by spark-submit to the cluster that was chosen for it.

Its settings are the only argument. Exit codes are those of `twinhive.transfer.staged.failure_kind.ExitCode`.
"""

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from pyspark.errors import AnalysisException, ParseException
from pyspark.sql import SparkSession

from twinhive.model.errors import ActNow
from twinhive.spark.endings import causes, ended
from twinhive.spark.executors import read_local
from twinhive.spark.lifeline import end_with_the_submitter
from twinhive.spark.sql_settings import SqlJobSettings
from twinhive.transfer.staged.failure_kind import ExitCode

NAME = "run_sql"


def main(arguments: Sequence[str]) -> int:
    """Run the job and return its exit code."""
    return ended(NAME, lambda: run(Path(arguments[-1])))


def run(path: Path) -> int:
    """Run what the settings say."""
    end_with_the_submitter(path)
    settings = SqlJobSettings.parse(read_local(str(path)))
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
            next_step="correct it, then clear this task",
        ) from error
    for row in rows:
        tell(json.dumps(row.asDict(recursive=True), default=str, ensure_ascii=False))
    tell(f"done, {len(rows):,} rows shown" if answer.columns else "done")


def tell(line: str) -> None:
    """Write a line to the submitter, who passes on what begins with the job's name."""
    print(f"{NAME}: {line}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    code = main(sys.argv[1:])
    sys.stdout.flush()
    sys.stderr.flush()
    # Two Java machines are attached to this process; what they do when Python ends must not change the code.
    os._exit(code)

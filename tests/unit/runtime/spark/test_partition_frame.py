"""What a write into partitions says of Spark's failures: one error, whichever library it comes from."""

from typing import Any, cast

import pytest
from py4j.protocol import Py4JNetworkError
from pyspark.errors import PySparkException

from twinhive.core.model.errors import ActNow, TryAgain, TwinhiveError
from twinhive.runtime.spark.partition_frame import SparkFrame

TRACE = (
    "An error occurred while calling o1.save.\n"
    ": org.apache.spark.SparkException: [TASK_WRITE_FAILED] Task failed while writing rows\n"
    "Caused by: org.apache.hadoop.hdfs.protocol.NSQuotaExceededException: The NameSpace quota of /t is exceeded\n"
    "\tat org.apache.hadoop.hdfs.Some.method(Some.java:1)\n"
)
TOO_LONG = "the row cannot be held by the table: name is varchar(3), found: xxxx"


class FrameOfNothing:
    """What a frame is asked for when it is taken."""

    sparkSession = None


@pytest.mark.parametrize(
    ("failure", "kind", "said"),
    [
        (PySparkException(TRACE), TryAgain, "The NameSpace quota of /t is exceeded"),
        (Py4JNetworkError(TRACE), TryAgain, "The NameSpace quota of /t is exceeded"),
        (Py4JNetworkError(TOO_LONG), ActNow, "varchar(3)"),
        (PySparkException(TOO_LONG), ActNow, "varchar(3)"),
    ],
)
def test_a_failure_of_spark_is_one_error_with_its_cause(
    failure: Exception, kind: type[TwinhiveError], said: str
) -> None:
    def work() -> Any:
        raise failure

    with pytest.raises(kind) as told:
        SparkFrame(cast(Any, FrameOfNothing()))._run(work, "writing rows for sales.days")
    assert said in str(told.value.words.found)
    assert "\n\tat" not in str(told.value)

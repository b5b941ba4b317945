"""What the exit code of a Spark job means for its task."""

import re

from twinhive.core.model.errors import TwinhiveError
from twinhive.core.model.text import Text
from twinhive.runtime.spark.job_outcome import NextSteps, explain, last_words

_EXIT_CODE = re.compile(r"Error code is: (\d+)")


def explain_spark_failure(error: Exception, label: str, mend: Text) -> TwinhiveError:
    """Read the exit code of spark_jobs/copy_files.py from the hook's message, its only carrier.

    mend   what a person can do about files that cannot be copied
    """
    steps = NextSteps(
        act_now=mend,
        unusable="mend the Spark connection or the executors' Python and Java, then clear this task",
        try_again="the task retries by itself; what is staged is not copied again",
    )
    said = str(error)
    match = _EXIT_CODE.search(said)
    code = int(match[1]) if match else None
    otherwise = said.partition("\n")[0] if code is None else f"exit code {code}"
    return explain(label, code, last_words(said, "copy_files"), otherwise, steps)

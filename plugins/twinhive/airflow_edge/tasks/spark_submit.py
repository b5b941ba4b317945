"""What the exit code of a Spark job means for its task."""

import re

from twinhive.model.errors import TwinhiveError
from twinhive.spark.endings import NextSteps, explain, last_words

_EXIT_CODE = re.compile(r"Error code is: (\d+)")
_NEXT_STEPS = NextSteps(
    act_now="mend what is said above, then clear this task with all tasks after it; a lost file never comes "
    "back: bring its table over with twinhive resync, then clear the task window with all tasks after it",
    unusable="mend the Spark connection or the executors' Python and Java, then clear this task",
    try_again="the task retries by itself; what is staged is not copied again",
)


def explain_spark_failure(error: Exception, label: str) -> TwinhiveError:
    """Read the exit code of spark_jobs/copy_files.py from the hook's message, its only carrier."""
    said = str(error)
    match = _EXIT_CODE.search(said)
    code = int(match[1]) if match else None
    otherwise = said.partition("\n")[0] if code is None else f"exit code {code}"
    return explain(label, code, last_words(said, "copy_files"), otherwise, _NEXT_STEPS)

"""A job's exit code and its last words are what its submitter knows."""

import pytest

from twinhive.core.model.errors import ActNow, LeaseLost, Missing, TryAgain
from twinhive.core.model.exit_codes import ExitCode, Unusable
from twinhive.runtime.spark.job_outcome import NextSteps, causes, ended, explain, last_words

STEPS = NextSteps("mend it", "mend Spark", "run again")


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (Unusable("no Python"), ExitCode.UNUSABLE),
        (LeaseLost("another run"), ExitCode.TRY_AGAIN),
        (Missing("gone", found="nothing", next_step="look"), ExitCode.ACT_NOW),
    ],
)
def test_what_ends_a_job_is_its_code_and_its_last_words(
    error: Exception, code: ExitCode, capsys: pytest.CaptureFixture[str]
) -> None:
    def run() -> int:
        raise error

    assert ended("job", run) == code
    output = f"WARN of Spark\njob: progress\n{capsys.readouterr().err}WARN more\n  indented\n"
    words = last_words(output, "job")
    assert words.startswith(("job failed: ", "job cannot run: "))
    assert all(line.strip() in words for line in str(error).splitlines())
    assert "indented" not in words


def test_a_job_that_came_to_its_end_says_its_own_code() -> None:
    assert ended("job", lambda: 0) == ExitCode.DONE


@pytest.mark.parametrize(
    ("code", "family", "step"),
    [(3, TryAgain, "run again"), (4, ActNow, "mend it"), (5, ActNow, "mend Spark"), (1, TryAgain, "run again")],
)
def test_the_exit_code_decides_who_acts(code: int, family: type, step: str) -> None:
    error = explain("copy", code, "job failed: it", "exit code", STEPS)
    assert isinstance(error, family)
    assert (error.found, error.next_step) == ("job failed: it", step)


def test_without_words_the_submitter_says_what_it_knows() -> None:
    assert explain("copy", 1, "", "exit code 1", STEPS).found == "exit code 1"


def test_the_innermost_causes_of_a_java_trace() -> None:
    trace = "Py4JJavaError: \n at x\nCaused by: java.io.IOException: outer\n at y\nCaused by: a.b.SomeError: inner\n"
    assert causes(trace) == "java.io.IOException: outer; a.b.SomeError: inner"
    assert causes("plain\nsecond") == "plain"

"""Copy files: submitted by tasks of policies, by statements and by `twinhive copy`, with a file of settings.

Exit codes are those of `twinhive.core.model.exit_codes.ExitCode`.
"""

from twinhive.runtime.spark.copy_job import run
from twinhive.runtime.spark.job_outcome import leave

if __name__ == "__main__":
    leave("copy_files", run)

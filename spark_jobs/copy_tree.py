"""Carry out the plan of a copy: submitted by `twinhive copy --spark`, with a file of settings as its only argument.

Exit codes are those of `twinhive.transfer.staged.failure_kind.ExitCode`.
"""

import os
import sys

from twinhive.spark.tree_job import main

if __name__ == "__main__":
    code = main(sys.argv[1])
    sys.stdout.flush()
    sys.stderr.flush()
    # Java is attached to this process; what it does when Python ends must not change the code.
    os._exit(code)

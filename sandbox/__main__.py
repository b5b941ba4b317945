"""Run the sandbox's command line: `python -m sandbox up`."""

from sandbox.cli import app

app(prog_name="python -m sandbox")

"""What the demo calls things, and where its settings lie; whoever only needs that does not load the data's package."""

from pathlib import Path

DATABASE = "flights"
CONFIG = Path(__file__).resolve().parent.parent / "dags"
"""The directory of clusters.yaml and policies/."""

"""Keep a twin of a Hive warehouse on another cluster."""

__version__ = "0.1.0"

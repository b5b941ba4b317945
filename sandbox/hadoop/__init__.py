"""HDFS and YARN, and what their administrators run."""

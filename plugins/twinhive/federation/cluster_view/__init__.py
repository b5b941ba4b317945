"""The metastore as one of its clusters sees it: what a port of the gateway changes in answers, and lets into it."""

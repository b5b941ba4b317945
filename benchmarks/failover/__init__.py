"""Measure failovers, failbacks, and proofs of equality: `python -m benchmarks.failover`."""

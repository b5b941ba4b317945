"""The command remotes: what remotes there are, and the replicas of what they stand for."""

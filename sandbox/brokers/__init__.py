"""The message brokers that tests and deployments use."""

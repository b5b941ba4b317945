"""TableMessage brokers."""

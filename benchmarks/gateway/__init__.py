"""What a gateway costs: calls directly, through a bare relay, and through the gateway, in one run."""

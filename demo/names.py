"""What the demo calls things; whoever only needs a name does not load the data's package."""

DATABASE = "flights"

"""What a gateway says of itself over HTTP, and what is made of it elsewhere."""

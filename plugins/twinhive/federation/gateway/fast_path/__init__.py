"""Small reads: answered without a task, a future or a timer of their own."""

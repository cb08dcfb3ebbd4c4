"""Bodies of requests while they arrive: in buffers, or on their way to the application."""

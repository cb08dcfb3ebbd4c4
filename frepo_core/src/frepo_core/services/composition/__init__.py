"""The parts of the container: the services by theme, each with the function that builds them."""

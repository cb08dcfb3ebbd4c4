"""The container: what the services are made of. Each is built when it is used first."""

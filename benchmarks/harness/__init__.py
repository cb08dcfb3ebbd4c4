"""What the groups of benchmarks share: clients, measurements, services and what they are compared with."""

"""One-line breaks of the source, each with the test that notices it: `tests/breaks.toml`, run by `make breaks`."""

"""The file `frepo-client.toml`."""

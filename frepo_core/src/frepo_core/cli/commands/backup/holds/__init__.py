"""Commands about what holds versions: pins and locks."""

"""Content on its way through HTTP: bodies, forms, byte ranges."""

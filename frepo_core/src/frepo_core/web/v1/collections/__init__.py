"""Collections, their versions and who may use them."""

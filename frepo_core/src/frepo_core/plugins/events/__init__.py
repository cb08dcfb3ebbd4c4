"""Events and those who are told about them."""

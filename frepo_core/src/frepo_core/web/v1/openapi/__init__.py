"""The OpenAPI document of the second API."""

"""The OpenAPI document of `/api/v1`, and the page that shows it."""

"""The page that shows an OpenAPI document: Swagger UI, vendored as published, and the files that start it."""

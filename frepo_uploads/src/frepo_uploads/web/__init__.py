"""tus 1.0 over HTTP: headers, views and endpoints."""

"""Routes requests to endpoints: the token, the permission, and the answers to errors."""

"""From a request to its endpoint: routes, the token, permissions, and the answers to errors."""

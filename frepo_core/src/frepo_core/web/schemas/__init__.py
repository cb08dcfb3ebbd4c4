"""The shapes of requests and answers, and their validation."""

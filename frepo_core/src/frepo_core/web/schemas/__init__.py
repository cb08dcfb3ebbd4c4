"""The models of requests and answers, and their validation."""

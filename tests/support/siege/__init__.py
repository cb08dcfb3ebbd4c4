"""A week in which an adversary has the token of a cron job: the service, the requests, and what must hold."""

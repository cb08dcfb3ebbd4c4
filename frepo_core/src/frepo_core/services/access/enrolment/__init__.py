"""One-time codes: who makes them, and how a host gets its token with one."""

"""Network addresses: who the client is behind proxies, and which addresses a fetched URL may have."""

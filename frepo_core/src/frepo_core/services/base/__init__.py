"""What every service may use: records, pages of keys, leases, calls of plug-ins."""

"""The second API, below `/api/v1`. `endpoints` lists its modules, `conventions` has what all of them share."""

"""Events: what has happened, recorded in the transaction of the fact."""

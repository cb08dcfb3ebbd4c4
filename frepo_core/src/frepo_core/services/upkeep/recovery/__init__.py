"""Recovery of a database from a storage alone: from the newest catalogue and the journal after it."""

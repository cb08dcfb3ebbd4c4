"""How far the journal in each storage has come: its keys, and the comparison with the database."""

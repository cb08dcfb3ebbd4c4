"""The formats: each module checks one, or one family."""

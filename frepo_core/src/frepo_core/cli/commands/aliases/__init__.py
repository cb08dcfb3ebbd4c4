"""Commands for aliases."""

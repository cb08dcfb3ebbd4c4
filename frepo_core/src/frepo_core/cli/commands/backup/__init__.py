"""Commands for collections and their versions."""

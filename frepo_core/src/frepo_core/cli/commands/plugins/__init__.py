"""Commands for plug-ins and their authors."""

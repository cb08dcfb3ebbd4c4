"""Writes packages with plug-ins for frepo: the command `frepo plugin:new`, and its templates."""

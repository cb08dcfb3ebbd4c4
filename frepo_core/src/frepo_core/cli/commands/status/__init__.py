"""Commands that say whether anything is wrong."""

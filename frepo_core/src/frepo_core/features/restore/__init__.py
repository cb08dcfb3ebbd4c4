"""The command `frepo restore`: gives back a version by the words of who needs it."""

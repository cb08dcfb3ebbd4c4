"""The engines that need no package of their own: `sqlite`, `tar` and `command`."""

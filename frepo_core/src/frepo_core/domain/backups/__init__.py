"""What is known about backups: the guards against wrong ones, and the verdict about each."""

"""Libraries of others, unchanged, with their licences: tomli 2.3.2, for Python before 3.11."""

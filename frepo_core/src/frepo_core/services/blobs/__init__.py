"""The life of a blob: written, used, collected."""

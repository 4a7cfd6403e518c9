"""A file without make."""

"""A file that cannot be imported."""
raise ValueError("broken")

"""A model that needs a package that is not there."""
import package_that_is_not_installed  # noqa: F401

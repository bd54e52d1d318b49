"""Tests of the package, by pytest (.ci/python)."""

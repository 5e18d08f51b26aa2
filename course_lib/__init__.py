"""Disentangling VAEs: the library of the course."""

__version__ = "2026.2"

"""A module for each command: a report becomes a chapter of a page."""

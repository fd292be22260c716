"""Acceptance rows run in an office (`tests.office_fixtures`) on each engine (`tests.engines`); both are plugins of the whole run."""

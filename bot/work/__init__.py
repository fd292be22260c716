"""The workers: dispatch, watch, sweep."""

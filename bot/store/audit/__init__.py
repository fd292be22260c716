"""The record: events, the hash chain that seals them, and what proves it whole."""

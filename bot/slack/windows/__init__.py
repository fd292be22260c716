"""Windows of one person: opened, filled in, read back."""

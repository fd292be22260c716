"""Alembic's scripts. Each revision is frozen once released: it repeats the schema of its day and imports no table."""

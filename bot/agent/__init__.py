"""Agent servers over HTTP: reading threads, sending answers, thread sync."""

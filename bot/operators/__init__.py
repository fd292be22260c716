"""What operators ask for, carried out by whoever serves."""

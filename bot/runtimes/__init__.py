"""What runs agents and can pause them, each behind one Protocol."""

"""Who presses, on what, and with what right: one loader and one decision service for every way in."""

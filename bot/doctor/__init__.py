"""`placet doctor`: what keeps an approval from coming or going, each fault with its mend."""

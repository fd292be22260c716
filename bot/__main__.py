"""`python -m bot` is `placet`."""

from bot.cli import main

main()

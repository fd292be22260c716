"""`python -m bot` is `placet`."""

from bot.cli.main import main

main()

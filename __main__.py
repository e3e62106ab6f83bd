"""The command line as `python -m dropline`."""

from dropline.cli import main

main()

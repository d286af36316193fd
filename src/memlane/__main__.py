"""`python -m memlane`."""

from .surfaces.cli import main

if __name__ == "__main__":
    main()

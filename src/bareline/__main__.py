"""``python -m bareline``."""

from bareline.cli import main

if __name__ == "__main__":
    main()

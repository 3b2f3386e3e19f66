"""``python -m bareline``."""

from bareline.cli.main import main

if __name__ == "__main__":
    main()

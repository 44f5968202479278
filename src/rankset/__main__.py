"""``python -m rankset``: the command line."""

from rankset.cli import main

if __name__ == "__main__":
    main()

"""`python -m companion` is the command `dice-companion`."""

from companion.cli import main

if __name__ == "__main__":
    main()

"""`python -m explorer`: the actions of the pages in a terminal."""

from explorer.commands import main

if __name__ == "__main__":
    main(prog_name="python -m explorer")

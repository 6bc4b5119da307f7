"""The command `dice-companion`, which `python -m companion` is too."""

import signal
import sys


def main() -> None:
    """Run the command line; Ctrl-C while its modules are imported ends it without a traceback."""
    before = signal.getsignal(signal.SIGINT)
    if before is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        from companion import cli
    except ModuleNotFoundError as error:
        sys.exit(f"dice-companion: {error}; make play installs it (on a Pi: make pi)")
    signal.signal(signal.SIGINT, before)
    cli.main()


if __name__ == "__main__":
    main()

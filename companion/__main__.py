"""The command `dice-companion`, which `python -m companion` is too."""

import signal


def main() -> None:
    """Run the command line; Ctrl-C while its modules are imported ends it without a traceback."""
    before = signal.getsignal(signal.SIGINT)
    if before is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from companion import cli

    signal.signal(signal.SIGINT, before)
    cli.main()


if __name__ == "__main__":
    main()

"""The command line: the one front door."""


def main() -> None:
    """Run the command line."""


if __name__ == "__main__":
    main()

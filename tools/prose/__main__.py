"""`python -m tools.prose`: print what a careful editor would look at again. It never fails."""

from tools.prose import glossary, lessons, symbols, unusual


def main() -> None:
    """Print a line for every warning."""
    for part in (lessons, glossary, symbols, unusual):
        for warning in part.warnings():
            print(warning)


if __name__ == "__main__":
    main()

"""What others do: textbook forms, written here, and libraries, where they are installed."""

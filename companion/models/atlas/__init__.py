"""Today's models, one specification each, held against the reference that it describes."""

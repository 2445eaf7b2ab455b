"""What every study shares: how one is described, run, tuned, recorded and decided."""

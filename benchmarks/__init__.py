"""Speed and memory beside others': `make bench` runs it all and prints one table."""

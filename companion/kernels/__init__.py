"""The same values, fast: one file a device. The definitions above say what is computed."""

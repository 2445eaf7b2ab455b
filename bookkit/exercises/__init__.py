"""Check functions of the exercises: each tells right from wrong and hints at the cause."""

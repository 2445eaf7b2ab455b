"""How a token looks at the tokens before it: one kind of layer a file."""

"""How the tokens of a layer reach each other, one kind a module: its specification, its layer."""

"""The commands, one module each; they sit on top and may import everything."""

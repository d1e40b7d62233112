"""The command line: the only part that imports typer and rich."""

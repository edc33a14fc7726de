"""The records that cross a border: frozen, strict, and importing nothing else of ours."""

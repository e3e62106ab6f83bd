"""Statistics: differences, scaling laws, and changes over time."""

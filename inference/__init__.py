"""What the figures let one conclude: differences, models of scaling, and changes over time."""

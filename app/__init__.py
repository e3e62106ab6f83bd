"""The dashboard, and what it shares with the command line: the warehouse and the calculator."""

"""The dashboard, and the warehouse and calculator that it shares with the command line."""

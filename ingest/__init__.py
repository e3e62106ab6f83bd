"""From raw files to the Parquet lake."""

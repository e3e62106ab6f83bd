"""Charts: functions that turn a table into an Altair chart, without page or database."""

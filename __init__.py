"""The embedded SQL warehouse for benchmark results of network servers."""

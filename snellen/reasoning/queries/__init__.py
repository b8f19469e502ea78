"""Questions about models: their meanings, the echo of each, and the reader that accounts for every word."""

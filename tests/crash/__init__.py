"""Killed processes, signals, locks and damaged ledgers, with real processes and a real server."""

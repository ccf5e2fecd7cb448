"""Task and source specs, snapshots by hash, oracles and scoring."""

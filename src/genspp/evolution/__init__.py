"""Search strategies, one file each, and the objective that they serve."""

"""The genetic search and the objective it serves."""

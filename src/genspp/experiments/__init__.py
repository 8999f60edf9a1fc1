"""What reproduces the paper."""

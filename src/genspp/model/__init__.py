"""The select-then-predict pair, its genome, its folder."""

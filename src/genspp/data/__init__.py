"""Texts in: corpora, tokenisers, readers, word vectors, arrays."""

"""`genspp serve`: a page on which a trained model is tried, and the requests behind it."""

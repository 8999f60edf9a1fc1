"""How much may be asked of a server, all in one place. A page of this machine comes near none of it."""

MOST_BYTES = 1_000_000  # of a request: some 150,000 words, which take a second or two
MOST_TEXTS = 100  # of a request: what a page can show
MOST_TOKENS = 5_000  # of a text: longer than any review; a page makes a button of each
MOST_CHARACTERS = 50_000  # of a text: even if it is one word, guessing what that looks like is quick

# A page asks five times per second at most, however fast one types. A client may come in late with many requests.
PER_SECOND, BURST = 10, 50
MOST_CLIENTS = 1_000  # whose rates are remembered, the latest
MOST_WAITING = 20  # requests in line for the model, which answers one at a time: half a minute at the very worst

MOST_REMEMBERED = 2_000_000  # bytes of requests, after which the words met in them are forgotten, to spare the memory
SECONDS_TO_END = 2  # that requests which are being answered are given, once Ctrl-C is typed

"""What can go wrong for a user, as a small family of exceptions.

Every message is one sentence that says what was got, where, and what to do. The command line prints it and
exits with code 2, a server answers with it; nothing else in the package catches these.
"""


class GenSPPError(Exception):
    """The base of everything this package raises on purpose."""


class DataError(GenSPPError, ValueError):
    """A file, a text, a label or a highlight that cannot be used. Mend the row the message names."""


class RowsError(DataError):
    """Several rows of a file that cannot be used: a sentence, and below it a line per row."""


class SettingsError(GenSPPError, ValueError):
    """A setting outside what it may be. The message names the setting and what it takes."""


class ModelFolderError(GenSPPError):
    """A model folder that is incomplete, altered, or not one of ours. Save the model again, or copy it whole."""


class RunError(GenSPPError):
    """A run folder that cannot be created, continued or read. The message says how to start again."""


class NotFittedError(GenSPPError, ValueError, AttributeError):
    """A model was asked for something before `fit` or `load`."""


class RequestError(GenSPPError):
    """A request that a server does not answer. status: what HTTP calls the reason."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status

"""What can go wrong with the check, beside its verdict."""


class LiveCheckError(Exception):
    """The scene could not be played as it is written."""

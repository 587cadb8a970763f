"""The failures that embcli expects, each with the exit code that the command line gives for it."""


class EmbcliError(Exception):
    """An expected failure: its text is one line that names the input, what was found and what to do.

    Codes: 1 expected failure, 2 usage, 3 wrong kind, version or vocabulary, 4 numbers went wrong.
    """

    exit_code = 1


class InputError(EmbcliError):
    """A file that cannot be read or is damaged, an unknown word, too little memory (exit 1)."""


class UsageError(EmbcliError):
    """An option or value that cannot be meant, found before any input is read (exit 2)."""

    exit_code = 2


class KindError(EmbcliError):
    """A file of another kind or version, or a vocabulary that does not fit (exit 3)."""

    exit_code = 3


class NumbersError(EmbcliError):
    """Divergence, or nothing to learn from (exit 4)."""

    exit_code = 4

"""Which embcli a process has. Sent to workers by value, since they may have none: it imports nothing at the top."""

from __future__ import annotations


def version() -> str | None:
    """Return the version of the embcli that would be imported here, None if there is none."""
    try:
        from embcli import __version__
    except Exception:  # a package of that name that is another one, too
        return None
    return str(__version__)

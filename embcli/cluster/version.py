"""Which embcli a process has. Sent to workers by value, since they may have none: it imports nothing at the top."""

from __future__ import annotations


def version() -> str | None:
    """Return the version of the embcli that would be imported here, None if there is none."""
    try:
        import embcli

        return str(embcli.__version__)
    except Exception:
        return None

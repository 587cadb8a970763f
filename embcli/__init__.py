"""embcli: from raw text to nearest neighbours, one verb per arrow. Imports nothing, so that --help stays light."""

__version__ = "0.1.0"

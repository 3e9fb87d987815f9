"""Files on the command lines of benchmarks, looked at before anything is measured."""

from __future__ import annotations

import argparse
import os
from pathlib import Path


def existing(text: str) -> Path:
    """A file to read."""
    path = Path(text)
    if not path.exists() or path.is_dir():
        raise argparse.ArgumentTypeError(f"there is no file {text}")
    return path


def writable(text: str) -> Path:
    """A file to write; hours of measuring must not end with a folder that is not there."""
    path = Path(text)
    if path.is_dir():
        raise argparse.ArgumentTypeError(f"{text} is a folder: name a file")
    if not path.parent.is_dir():
        raise argparse.ArgumentTypeError(f"there is no folder {path.parent}: make it first")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise argparse.ArgumentTypeError(f"{text} cannot be written: it is somebody else's")
    return path

"""The services of one command: connected when it starts, closed when it ends."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from core.wiring import Services


@contextmanager
def services() -> Iterator["Services"]:
    """Connect with the settings of the working folder.

    Raises:
        SettingsInvalid: they cannot be used.
        StoreUnavailable: the data folder or the catalog cannot be opened.
    """
    from core import wiring  # a command that only prints help connects nothing
    from core.settings import load_settings

    connected = wiring.build(load_settings())
    try:
        yield connected
    finally:
        connected.close()

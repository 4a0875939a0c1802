"""The console on fake services."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from console import services
from tests.console.fakes import FakeServices

APP = Path(__file__).resolve().parents[2] / "console" / "app.py"
Opener = Callable[[FakeServices], AppTest]


@pytest.fixture
def open_console(monkeypatch: pytest.MonkeyPatch) -> Iterator[Opener]:
    """Open the console on given services; caches are empty before and after."""

    def opened(base: FakeServices) -> AppTest:
        monkeypatch.setattr(services, "build", lambda: base)
        return AppTest.from_file(str(APP), default_timeout=30)

    st.cache_resource.clear()
    yield opened
    st.cache_resource.clear()

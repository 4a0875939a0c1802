from collections.abc import Callable

import pytest

from core.adapters.milvus.connection import MilvusConnection
from tests.core.adapters.conftest import BACK_ENDS
from tests.core.adapters.search_contract import SearchContract
from tests.core.adapters.store_contract import BuildContract, WriteContract
from tests.core.adapters.store_material import StorePorts

pytestmark = pytest.mark.milvus


@pytest.fixture(params=BACK_ENDS)
def store(
    request: pytest.FixtureRequest,
    connections: Callable[[str], MilvusConnection],
    ports_of: Callable[[MilvusConnection], StorePorts],
) -> StorePorts:
    return ports_of(connections(request.param))


class TestMilvusSearcher(SearchContract):
    pass


class TestMilvusWriter(WriteContract):
    pass


class TestMilvusBuilds(BuildContract):
    pass

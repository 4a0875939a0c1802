import inspect

import grpc
import pymilvus.exceptions
import pytest
from pymilvus.exceptions import MilvusException

from core.adapters.milvus.errors import (
    is_lost,
    is_too_large,
    masked,
    translate,
    translated,
)
from core.errors import (
    CollectionMismatch,
    CollectionMissing,
    StoreError,
    StoreUnavailable,
    WriteRejected,
)

EXPECTED = {
    "MilvusException": StoreError, "ParamError": StoreError, "ConnectError": StoreUnavailable,
    "MilvusUnavailableException": StoreUnavailable, "CollectionNotExistException": CollectionMissing,
    "DescribeCollectionException": StoreError, "PartitionAlreadyExistException": StoreError,
    "IndexNotExistException": CollectionMismatch, "AmbiguousIndexName": CollectionMismatch,
    "CannotInferSchemaException": CollectionMismatch, "SchemaNotReadyException": CollectionMismatch,
    "DataTypeNotMatchException": WriteRejected, "DataTypeNotSupportException": WriteRejected,
    "DataNotMatchException": WriteRejected, "SchemaMismatchRetryableException": CollectionMismatch,
    "ConnectionNotExistException": StoreUnavailable, "ConnectionConfigException": StoreUnavailable,
    "PrimaryKeyException": CollectionMismatch, "PartitionKeyException": CollectionMismatch,
    "ClusteringKeyException": CollectionMismatch, "FieldsTypeException": CollectionMismatch,
    "FunctionsTypeException": CollectionMismatch, "FieldTypeException": CollectionMismatch,
    "AutoIDException": CollectionMismatch, "InvalidConsistencyLevel": StoreError,
    "ServerVersionIncompatibleException": StoreUnavailable,
}  # fmt: skip

CLASSES = [
    value
    for value in vars(pymilvus.exceptions).values()
    if inspect.isclass(value) and issubclass(value, MilvusException)
]


class Rpc(grpc.RpcError):
    def __init__(self, status: grpc.StatusCode) -> None:
        self._status = status

    def code(self) -> grpc.StatusCode:
        return self._status

    def details(self) -> str:
        return "what the server said"


@pytest.mark.parametrize("theirs", CLASSES, ids=lambda value: value.__name__)
def test_every_pymilvus_class_becomes_one_of_ours(theirs: type[MilvusException]) -> None:
    with pytest.raises(StoreError) as raised, translated("searching biz", "host:1"):
        raise theirs(message="it broke")
    assert type(raised.value) is EXPECTED[theirs.__name__]
    assert str(raised.value).startswith("Milvus at host:1 failed while searching biz: it broke. ")


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (MilvusException(100, "collection 'x' does not exist"), CollectionMissing),
        (pymilvus.exceptions.DescribeCollectionException(100, "no such"), CollectionMissing),
        (MilvusException(1, "can't find", 4), CollectionMissing),
        (MilvusException(2, "Fail connecting to server"), StoreUnavailable),
        (MilvusException(8, "rate limit"), StoreUnavailable),
        (MilvusException(101, "not loaded"), StoreError),
        (MilvusException(grpc.StatusCode.UNAVAILABLE, "Retry run out"), StoreUnavailable),
        (MilvusException(1, "[search] Retry timeout: 3s"), StoreUnavailable),
        (MilvusException(6, "VARCHAR field 'c' value length 11 exceeds max_length=5"), WriteRejected),
        (Rpc(grpc.StatusCode.DEADLINE_EXCEEDED), StoreUnavailable),
        (Rpc(grpc.StatusCode.UNAUTHENTICATED), StoreUnavailable),
        (Rpc(grpc.StatusCode.RESOURCE_EXHAUSTED), WriteRejected),
        (Rpc(grpc.StatusCode.INTERNAL), StoreError),
        (ValueError("Cannot invoke RPC on closed channel!"), StoreUnavailable),
    ],
)
def test_codes_and_statuses_decide_before_the_class(error: Exception, expected: type[StoreError]) -> None:
    assert type(translate(error, "reading", "here")) is expected


def test_a_mistake_in_the_code_is_not_dressed_up() -> None:
    with pytest.raises(ValueError, match="wrong shape"), translated("x", "y"):
        raise ValueError("wrong shape")


def test_a_token_never_reaches_the_sentence() -> None:
    """mil-24: secrets in addresses and in what the server says."""
    error = translate(MilvusException(1, "bad token s3cr3t:pw"), "x", "y", "s3cr3t:pw")
    assert "s3cr3t" not in str(error)
    assert masked("https://root:pw@in01.example.com:19530/db?token=abc") == (
        "https://***@in01.example.com:19530/db"
    )
    assert masked("http://host:19530") == "http://host:19530"
    assert masked("C@d/milvus.db") == "C@d/milvus.db"


def test_lost_and_too_large_are_told_apart() -> None:
    assert is_lost(Rpc(grpc.StatusCode.UNAVAILABLE))
    assert is_lost(MilvusException(1, "should create connection first"))
    assert not is_lost(MilvusException(1, "syntax error"))
    assert is_too_large(Rpc(grpc.StatusCode.RESOURCE_EXHAUSTED))
    assert is_too_large(MilvusException(1, "<_InactiveRpcError: StatusCode.RESOURCE_EXHAUSTED, too big>"))
    assert not is_too_large(MilvusException(1, "other"))

"""Their errors to ours, once: pymilvus, gRPC and Milvus Lite to `core.errors`.

In: whatever a call to pymilvus raised. Out: one `StoreError` (or a subclass) with a sentence: what
failed, where, what the store said, what to do. Invariant: the most specific rule wins (error code,
then class, then message), and no token is ever part of a sentence.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from urllib.parse import urlsplit, urlunsplit

from core.errors import (
    CollectionMismatch,
    CollectionMissing,
    StoreError,
    StoreUnavailable,
    WriteRejected,
)

Rule = tuple[type[StoreError], str]

_START = "Check that the server runs and that milvus.uri and milvus.token are right."
_REBUILD = "Rebuild the collection."
_ROW = "Nothing of this batch was written. Look at the document it names."
_REPORT = "Try again; if it happens again, look into the log of the store."

NOT_LOADED = 101
_BY_CODE: Mapping[int, Rule] = {
    2: (StoreUnavailable, _START),
    4: (CollectionMissing, _REBUILD),
    8: (StoreUnavailable, "The server is busy. Wait a moment and try again."),
    9: (StoreUnavailable, "The server refuses writes. Check its quota."),
    100: (CollectionMissing, _REBUILD),
    NOT_LOADED: (StoreError, "The collection is not loaded. Try again in a moment."),
    700: (CollectionMismatch, _REBUILD),
}
_BY_CLASS: Mapping[str, Rule] = {
    "ConnectError": (StoreUnavailable, _START),
    "MilvusUnavailableException": (StoreUnavailable, _START),
    "ConnectionNotExistException": (StoreUnavailable, _START),
    "ConnectionConfigException": (StoreUnavailable, _START),
    "ServerVersionIncompatibleException": (
        StoreUnavailable,
        "Use a Milvus server of version 2.5 or newer.",
    ),
    "CollectionNotExistException": (CollectionMissing, _REBUILD),
    "DescribeCollectionException": (StoreError, _REPORT),
    "PartitionAlreadyExistException": (StoreError, _REPORT),
    "IndexNotExistException": (CollectionMismatch, _REBUILD),
    "AmbiguousIndexName": (CollectionMismatch, _REBUILD),
    "CannotInferSchemaException": (CollectionMismatch, _REBUILD),
    "SchemaNotReadyException": (CollectionMismatch, _REBUILD),
    "SchemaMismatchRetryableException": (CollectionMismatch, _REBUILD),
    "PrimaryKeyException": (CollectionMismatch, _REBUILD),
    "PartitionKeyException": (CollectionMismatch, _REBUILD),
    "ClusteringKeyException": (CollectionMismatch, _REBUILD),
    "FieldsTypeException": (CollectionMismatch, _REBUILD),
    "FunctionsTypeException": (CollectionMismatch, _REBUILD),
    "FieldTypeException": (CollectionMismatch, _REBUILD),
    "AutoIDException": (CollectionMismatch, _REBUILD),
    "DataTypeNotMatchException": (WriteRejected, _ROW),
    "DataTypeNotSupportException": (WriteRejected, _ROW),
    "DataNotMatchException": (WriteRejected, _ROW),
    "ParamError": (StoreError, _REPORT),
    "InvalidConsistencyLevel": (StoreError, _REPORT),
}
_BY_STATUS: Mapping[str, Rule] = {
    "UNAVAILABLE": (StoreUnavailable, _START),
    "DEADLINE_EXCEEDED": (StoreUnavailable, "Wait a moment, or raise milvus.timeout_seconds."),
    "UNAUTHENTICATED": (StoreUnavailable, "Check milvus.token."),
    "PERMISSION_DENIED": (StoreUnavailable, "Check milvus.token and the rights of its user."),
    "RESOURCE_EXHAUSTED": (
        WriteRejected,
        "The message is too large for the server. Choose smaller chunks.",
    ),
}
_BY_MESSAGE: Mapping[str, Rule] = {
    "retry timeout": (StoreUnavailable, "Wait a moment, or raise milvus.timeout_seconds."),
    "deadline exceeded": (StoreUnavailable, "Wait a moment, or raise milvus.timeout_seconds."),
    "should create connection first": (StoreUnavailable, _START),
    "closed channel": (StoreUnavailable, _START),
    "exceeds max_length": (WriteRejected, _ROW),
    "expected dim": (WriteRejected, _ROW),
}
_LOST = ("should create connection first", "closed channel", "Fail connecting to server")


def masked(uri: str) -> str:
    """Return an address without user, password and query; a path stays as it is."""
    if "://" not in uri:
        return uri
    parts = urlsplit(uri)
    host = parts.netloc.rpartition("@")[2]
    user = "***@" if "@" in parts.netloc else ""
    return urlunsplit((parts.scheme, user + host, parts.path, "", ""))


def foreign_errors() -> tuple[type[BaseException], ...]:
    """Return what pymilvus lets out; ValueError is grpc's word for a closed channel."""
    import grpc  # type: ignore[import-untyped] # no stubs; loaded already when a call has failed
    from pymilvus.exceptions import MilvusException

    return (MilvusException, grpc.RpcError, grpc.FutureTimeoutError, ValueError)


def code_of(error: BaseException) -> int | None:
    """Return the numeric code of a pymilvus error; None for the others."""
    code = getattr(error, "code", None)
    return int(code) if isinstance(code, int) else None


def message_of(error: BaseException) -> str:
    """Return what the store said, in one line."""
    details = getattr(error, "details", None)
    text = getattr(error, "message", None) or (details() if callable(details) else None) or str(error)
    return " ".join(str(text).split()) or type(error).__name__


def is_lost(error: BaseException) -> bool:
    """Tell whether the client must be opened anew: closed elsewhere, or the server is gone."""
    return _status_of(error) == "UNAVAILABLE" or any(part in message_of(error) for part in _LOST)


def is_too_large(error: BaseException) -> bool:
    """Tell whether a message went over the size limit of the connection."""
    return _status_of(error) == "RESOURCE_EXHAUSTED" or "RESOURCE_EXHAUSTED" in message_of(error)


def is_own_fault(error: BaseException) -> bool:
    """Tell whether a ValueError comes from a mistake in the code and not from a closed channel."""
    return isinstance(error, ValueError) and not is_lost(error)


@contextmanager
def translated(doing: str, place: str, token: str = "") -> Iterator[None]:
    """Raise ours instead of theirs.

    Args:
        doing: for the sentence: `searching biz_hybrid_1`.
        place: address or path, already masked.
        token: taken out of what the store said.
    """
    try:
        yield
    except foreign_errors() as error:
        if is_own_fault(error):
            raise
        raise translate(error, doing, place, token) from error


def translate(error: BaseException, doing: str, place: str, token: str = "") -> StoreError:
    """Return our error for theirs; see `translated`."""
    kind, advice = _rule(error)
    said = message_of(error)
    if token:
        said = said.replace(token, "***")
    return kind(f"Milvus at {place} failed while {doing}: {said.rstrip('.')}. {advice}")


def _rule(error: BaseException) -> Rule:
    return _rule_of_code(error) or _rule_of_class(error) or _rule_of_text(error) or (StoreError, _REPORT)


def _rule_of_code(error: BaseException) -> Rule | None:
    """Look up the code, then the code that older servers use."""
    compatible = getattr(error, "compatible_code", None)
    return _BY_CODE.get(code_of(error) or 0) or (_BY_CODE[4] if compatible == 4 else None)  # noqa: PLR2004


def _rule_of_class(error: BaseException) -> Rule | None:
    names = [ancestor.__name__ for ancestor in type(error).__mro__]
    return next((_BY_CLASS[name] for name in names if name in _BY_CLASS), None)


def _rule_of_text(error: BaseException) -> Rule | None:
    """Look up the gRPC status, then parts of the message."""
    said = message_of(error).lower()
    found = (rule for part, rule in _BY_MESSAGE.items() if part in said)
    return _BY_STATUS.get(_status_of(error)) or next(found, None)


def _status_of(error: BaseException) -> str:
    """Return the name of a gRPC status; "" when there is none."""
    code = getattr(error, "code", None)
    value = code() if callable(code) else code
    return str(getattr(value, "name", ""))

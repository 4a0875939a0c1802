"""Every error that RankLens raises on purpose.

    RankLensError
    |-- SettingsInvalid            settings that cannot be used; lists all faults at once
    |-- RequestInvalid             a query or a limit outside its range
    |   `-- CategoryUnknown        the base holds no such category
    |-- FileRefused                an uploaded file that cannot become a document; says why
    |-- DocumentMissing            no such document in the catalog
    |-- EmbeddingFailed            the model cannot be loaded or gave unusable vectors
    |-- StoreError                 anything about the vector store
    |   |-- StoreUnavailable       the server does not answer, or the path cannot be opened
    |   |   `-- StoreLocked        another process has the local file open
    |   |-- CollectionMissing      no build is published yet
    |   |-- CollectionMismatch     a build that these settings cannot read: model, schema, foreign
    |   |-- HybridUnsupported      a dense-only collection was asked for a hybrid search
    |   |-- WriteRejected          a row that the store cannot hold
    |   `-- BuildInvalid           a finished build that did not pass its verification
    |-- JobRefused                 a job that cannot start now (another one runs)
    |-- JobCancelled               a person stopped the job
    |-- QuerySetInvalid            a file of judged queries with faults; lists the lines
    `-- BundleInvalid              a saved lookup that cannot be written, read or trusted

Each message is one or two whole sentences: what happened, to which thing with both numbers or
names, and what to do. The console and the command line print the message as it is.
"""


class RankLensError(Exception):
    """The root: whatever a person can cause or meet."""


class SettingsInvalid(RankLensError):
    """Settings that cannot be used."""


class RequestInvalid(RankLensError):
    """A query or a limit outside its range."""


class CategoryUnknown(RequestInvalid):
    """The base holds no such category."""


class FileRefused(RankLensError):
    """An uploaded file that cannot become a document."""


class DocumentMissing(RankLensError):
    """No such document in the catalog."""


class EmbeddingFailed(RankLensError):
    """The embedding model cannot be loaded or gave unusable vectors."""


class StoreError(RankLensError):
    """Anything about the vector store that has no class of its own."""


class StoreUnavailable(StoreError):
    """The server does not answer, or the path cannot be opened."""


class StoreLocked(StoreUnavailable):
    """Another process has the local Milvus file open."""


class CollectionMissing(StoreError):
    """No build is published under the configured name."""


class CollectionMismatch(StoreError):
    """A build that the present settings cannot read."""


class HybridUnsupported(StoreError):
    """A dense-only collection was asked for a hybrid search."""


class WriteRejected(StoreError):
    """A row that the store cannot hold."""


class BuildInvalid(StoreError):
    """A finished build that did not pass its verification."""


class JobRefused(RankLensError):
    """A job that cannot start now."""


class JobCancelled(RankLensError):
    """A person stopped the job."""


class QuerySetInvalid(RankLensError):
    """A file of judged queries with faults."""


class BundleInvalid(RankLensError):
    """A saved lookup that cannot be written, read or trusted."""

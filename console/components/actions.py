"""What a person can start: indexing, deleting, rebuilding; each is a job.

In: the services and what to work on. Out: a job that runs. Invariant: every write goes through
`jobs`, so one runs at a time and none depends on the page that started it.

Raises:
    JobRefused: from each of them, while another job runs.
"""

from collections.abc import Sequence

from console.texts import counted, t
from core.catalog.records import CatalogDocument
from core.indexing.building import rebuild
from core.indexing.deleting import delete_documents
from core.indexing.reports import UploadedFile
from core.indexing.rolling_back import roll_back
from core.indexing.uploading import index_files
from core.wiring import Services

INDEX = "index"
DELETE = "delete"
REBUILD = "rebuild"
ROLL_BACK = "roll_back"


def start_indexing(base: Services, files: Sequence[UploadedFile]) -> str:
    """Index files; return the job's id."""
    title = counted("Index {count} file", "Index {count} files", len(files))
    return base.jobs.start(INDEX, title, lambda progress: index_files(base.base, files, progress))


def start_deleting(base: Services, document: CatalogDocument) -> str:
    """Delete one document; return the job's id."""
    title = t("Delete {name}").format(name=document.name)
    return base.jobs.start(DELETE, title, lambda _progress: delete_documents(base.base, (document.doc_id,)))


def start_rolling_back(base: Services, build: str) -> str:
    """Point the alias back at an older build; return the job's id."""
    title = t("Roll back to {name}").format(name=build)
    return base.jobs.start(ROLL_BACK, title, lambda _progress: roll_back(base.base, build))


def start_rebuilding(base: Services) -> str:
    """Rebuild from the catalog; return the job's id."""
    return base.jobs.start(REBUILD, t("Rebuild"), lambda progress: rebuild(base.base, progress))

"""What `ranklens doctor` looks at.

In: connected services. Out: `Findings`: facts a line each, and what is not in order. Invariant: reads
only; a store that does not open is a finding, not the end.
"""

from collections import Counter
from dataclasses import dataclass

from core.cli.printing import counted
from core.errors import StoreError
from core.indexing.checking import inconsistencies
from core.model.builds import BuildDescription
from core.wiring import Services


@dataclass(frozen=True, slots=True)
class Findings:
    """Facts about the base, and what is wrong with it; no trouble means that it is in order."""

    facts: tuple[str, ...]
    troubles: tuple[str, ...]

    @property
    def in_order(self) -> bool:
        """Nothing is wrong."""
        return not self.troubles

    @property
    def text(self) -> str:
        """A line for each fact, then the troubles, or a sentence that there are none."""
        ending = [f"Trouble: {trouble}" for trouble in self.troubles] or ["Everything is in order."]
        return "\n".join([*self.facts, *ending])


def examine(services: Services) -> Findings:
    """Look at the model, the catalog, the store and whether the two agree."""
    settings, embedder = services.settings, services.embedder
    calibrated = services.configuration.thresholds.calibrated
    facts = [
        f"Data folder: {settings.data_dir}",
        f"Milvus: {services.connection.place}, alias {settings.milvus.collection}",
        *_catalog(services),
        f"Model: {embedder.name} ({embedder.dimension} dimensions, {embedder.revision})",
        f"Levels: {'calibrated' if calibrated else 'not calibrated'} for this model",
    ]
    troubles: list[str] = []
    try:
        facts += _builds(services)
        troubles += _store_troubles(services)
    except StoreError as error:
        troubles.append(str(error))
    return Findings(tuple(facts), tuple(troubles))


def _catalog(services: Services) -> list[str]:
    documents = services.catalog.documents()
    lines = [f"Documents in the catalog: {len(documents):,}"]
    for name, values in (
        ("Knowledge bases", [document.kb_scope for document in documents]),
        ("Categories", [document.category for document in documents]),
    ):
        if values:
            counts = sorted(Counter(values).items())
            lines.append(f"{name}: {', '.join(f'{value} ({count:,})' for value, count in counts)}")
    return lines


def _builds(services: Services) -> list[str]:
    builds = services.base.builds.builds()
    if not builds:
        return ["Builds: none yet"]
    return ["Builds:", *(f"  {_build(build)}" for build in builds)]


def _build(build: BuildDescription) -> str:
    live = "live, " if build.live else ""
    hybrid = "hybrid" if build.hybrid_ready else f"dense only, lacks {', '.join(build.missing_fields)}"
    chunks = counted(build.chunks, "chunk", "chunks")
    return f"{build.name}: {live}{chunks}, {build.index_type} {build.metric}, {hybrid}"


def _store_troubles(services: Services) -> list[str]:
    live = services.base.builds.live()
    troubles = [item.sentence for item in inconsistencies(services.base)]
    if live is None:
        return troubles or ["No build is published yet. Index files, or run `ranklens sample`."]
    try:
        services.live.describe()
    except StoreError as error:
        troubles.append(str(error))
    if services.base.builds.fragmented(live):
        troubles.append(
            f"The BM25 statistics of {live} are in pieces, so its scores do not compare well. "
            "Run `ranklens rebuild`."
        )
    return troubles

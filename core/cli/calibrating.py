"""`ranklens calibrate`: the cuts of the relevance levels for the embedding model of the settings.

In: folders with documents under `raw/` and judged questions, and questions about something else. Out:
text: how well the numbers part the groups, the cuts, what the filter fallback does with them, and the
lines for `ranklens.toml`. Invariant: nothing is changed; a person copies the lines.
"""

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from core.cli.evaluating import RAW, follow, own_base
from core.cli.tables import table
from core.evaluation.calibration import Calibration, Material, calibrate
from core.evaluation.query_sets import Query, QuerySet
from core.evaluation.reading import read_query_set
from core.evaluation.separation import Separation
from core.model.lookup import FilterPolicy
from core.retrieval.configuration import Configuration
from core.retrieval.levels import Thresholds
from core.retrieval.lookup import lookup_knowledge
from core.sample import sample_documents_path, sample_queries_path
from core.wiring import Services


@dataclass(frozen=True, slots=True)
class _Base:
    """A connected base with its judged questions."""

    name: str
    connected: Services
    questions: QuerySet

    def material(self) -> Material:
        documents = self.connected.catalog.documents()
        return Material(
            name=self.name,
            searcher=self.connected.live,
            questions=self.questions,
            categories=self.connected.categories(),
            category_of={document.name: document.category for document in documents},
        )


def calibrate_folders(folders: Sequence[Path], unrelated: Path) -> str:
    """Measure over the sample base and every folder together.

    Raises:
        QuerySetInvalid: a file of questions has faults.
        StoreError: a base cannot be asked.
    """
    strange = [query.text for query in read_query_set(unrelated).queries]
    sources = [("sample base", sample_documents_path(), sample_queries_path())]
    sources += [(folder.name, folder / RAW, folder) for folder in folders]
    with ExitStack() as stack:
        bases = []
        for name, documents, questions in sources:
            connected = stack.enter_context(own_base(documents))
            follow(connected, documents)
            bases.append(_Base(name, connected, read_query_set(questions)))
        first = bases[0].connected
        materials = [base.material() for base in bases]
        found = calibrate(materials, strange, first.embedder, first.configuration)
        fallbacks = [_fallback(base, found.thresholds) for base in bases]
    return "\n\n".join([_separations(found), _cuts(found.thresholds), *fallbacks])


def _separations(found: Calibration) -> str:
    cuts = found.thresholds
    rows = [
        _row(found.unrelated, cuts.reference_threshold),
        _row(found.category, cuts.related_margin),
        _row(found.single_hit, cuts.precise_margin),
    ]
    header = ("question", "yes", "no", "AUC", "cut", "yes kept", "yes lost", "no let in", "no kept out")
    return table(header, rows, numbers=frozenset(range(1, len(header))))


def _row(separation: Separation, cut: float) -> tuple[str, ...]:
    confusion = separation.confusion(cut)
    return (
        separation.question,
        str(len(separation.positives)),
        str(len(separation.negatives)),
        f"{separation.auc:.4f}",
        f"{cut:.3f}",
        str(confusion.true_positive),
        str(confusion.false_negative),
        str(confusion.false_positive),
        str(confusion.true_negative),
    )


def _cuts(cuts: Thresholds) -> str:
    return (
        f"Cuts for {cuts.model}, for ranklens.toml:\n\n[retrieval.normalization]\n"
        f"reference_threshold = {cuts.reference_threshold:.3f}\n"
        f"precise_threshold = {cuts.precise_threshold:.3f}\n"
        f"related_margin = {cuts.related_margin:.2f}\n"
        f"precise_margin = {cuts.precise_margin:.2f}"
    )


def _fallback(base: _Base, cuts: Thresholds) -> str:
    """Say what the fallback does on the questions that ask a wrong category, with these cuts."""
    asked = [query for query in base.questions.queries if query.wrong_category]
    configuration = replace(base.connected.configuration, thresholds=cuts, policy=FilterPolicy.FALLBACK)
    grades = base.questions.grades()
    saved = sum(_saved(base, query, configuration, set(grades[query.query_id])) for query in asked)
    needless = sum(_relaxed(base, query, configuration) for query in asked)
    return (
        f"{base.name}: with a wrong category the fallback brings a right document back for "
        f"{saved} of {len(asked)} questions; with the right category it relaxes the filter for {needless}."
    )


def _saved(base: _Base, query: Query, configuration: Configuration, right: set[str]) -> bool:
    wrong = replace(configuration, category=query.category)
    found = lookup_knowledge(base.connected.live, base.connected.embedder, query.text, wrong, trace=False)
    return any(item.source in right for item in found.projection.evidence)


def _relaxed(base: _Base, query: Query, configuration: Configuration) -> bool:
    right = replace(configuration, category=query.right_category)
    found = lookup_knowledge(base.connected.live, base.connected.embedder, query.text, right, trace=False)
    return found.projection.filter_relaxed

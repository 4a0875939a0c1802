r"""Files of judged queries -> `QuerySet`.

Two forms are read. One JSONL file, a query with its judgments on each line:

    {"query_id": "q1", "text": "KubeletDown", "kind": "term", "language": "en", "category": null,
     "right_category": null, "judgments": [{"document": "ops/kubelet.md", "grade": 2, "heading": null}]}

Or a folder: `queries.jsonl` (the same without judgments; `lang` and `filter.category` are other
names of `language` and `category`) with `qrels.tsv` (a header `query_id doc_id grade`, tabs
between), and optionally `queries_filter.jsonl` with `qrels_filter_unfiltered.tsv`.

Invariant: a set is read whole or not at all; every fault is reported together with its line.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from core.errors import QuerySetInvalid
from core.evaluation.lines import Findings, Placed, QueryLine, judgment_lines, query_lines
from core.evaluation.query_sets import Judgment, Query, QuerySet

FOLDER_PAIRS = (("queries.jsonl", "qrels.tsv"), ("queries_filter.jsonl", "qrels_filter_unfiltered.tsv"))
FAULTS_SHOWN = 20


def read_query_set(path: Path) -> QuerySet:
    """Read a JSONL file, or a folder with `queries.jsonl` and `qrels.tsv`; the name is the path's stem.

    Raises:
        QuerySetInvalid: there is no such path, it cannot be read, or it has faults (all are listed).
    """
    if path.is_file():
        return parse_query_set(path.stem, _bytes_of(path))
    if not path.is_dir():
        raise QuerySetInvalid(
            f"{path} is neither a file nor a folder. Give a JSONL file of judged queries."
        )
    findings = Findings([], [])
    queries: list[Placed[QueryLine]] = []
    judgments: list[Placed[Judgment]] = []
    for query_file, judgment_file in _pairs_in(path, findings):
        before = len(findings.faults)
        read = list(query_lines(query_file.name, _bytes_of(query_file), findings))
        known = {placed.value.query_id for placed in read} if len(findings.faults) == before else None
        queries += read
        judgments += judgment_lines(judgment_file.name, _bytes_of(judgment_file), known, findings)
    return _query_set(path.name, queries, judgments, findings)


def parse_query_set(name: str, data: bytes) -> QuerySet:
    """Read the bytes of one JSONL file, a query with its judgments on each line.

    UTF-8 with or without a byte order mark; blank lines are passed over. Keys without a meaning
    here, and judgments given twice with one grade, end up in the set's warnings.

    Args:
        name: of the set, as it is shown.
        data: the whole file.

    Raises:
        QuerySetInvalid: lists every fault with its line number.
    """
    findings = Findings([], [])
    queries = list(query_lines("", data, findings))
    return _query_set(name, queries, (), findings)


def _bytes_of(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise QuerySetInvalid(f"{path} cannot be read: {error.strerror}.") from error


def _pairs_in(folder: Path, findings: Findings) -> list[tuple[Path, Path]]:
    pairs = [(folder / queries, folder / judgments) for queries, judgments in FOLDER_PAIRS]
    wanted = [pair for i, pair in enumerate(pairs) if i == 0 or any(path.is_file() for path in pair)]
    missing = [path for pair in wanted for path in pair if not path.is_file()]
    findings.faults.extend(f"{path.name} is missing." for path in missing)
    return [pair for pair in wanted if not set(pair) & set(missing)]


def _query_set(
    name: str,
    lines: Sequence[Placed[QueryLine]],
    separate: Sequence[Placed[Judgment]],
    findings: Findings,
) -> QuerySet:
    queries = tuple(_queries(lines, findings))
    judgments = tuple(_judgments([*_inline(lines), *separate], findings))
    if not queries and not findings.faults:
        findings.faults.append("It holds no query.")
    if findings.faults:
        raise QuerySetInvalid(_message(name, findings.faults))
    findings.warnings.extend(_unknown_keys(lines))
    return QuerySet(name, queries, judgments, tuple(findings.warnings))


def _queries(lines: Iterable[Placed[QueryLine]], findings: Findings) -> Iterator[Query]:
    first: dict[str, str] = {}
    for placed in lines:
        line = placed.value
        if line.query_id in first:
            findings.faults.append(
                f"{placed.place}: the query id {line.query_id!r} stands on {first[line.query_id]} already."
            )
            continue
        first[line.query_id] = placed.place
        yield Query(
            query_id=line.query_id,
            text=line.text,
            kind=line.kind,
            language=line.language,
            category=line.category,
            right_category=line.right_category,
            notes=line.notes,
        )


def _inline(lines: Iterable[Placed[QueryLine]]) -> Iterator[Placed[Judgment]]:
    for placed in lines:
        for judged in placed.value.judgments:
            judgment = Judgment(placed.value.query_id, judged.document, judged.grade, judged.heading)
            yield Placed(placed.place, judgment)


def _judgments(placed: Iterable[Placed[Judgment]], findings: Findings) -> Iterator[Judgment]:
    first: dict[tuple[str, str, str | None], Placed[Judgment]] = {}
    for item in placed:
        judgment = item.value
        key = (judgment.query_id, judgment.document, judgment.heading)
        earlier = first.setdefault(key, item)
        if earlier is item:
            yield judgment
        elif earlier.value.grade == judgment.grade:
            findings.warnings.append(
                f"{item.place}: {judgment.document!r} is judged twice for {judgment.query_id!r}; "
                "it counts once."
            )
        else:
            findings.faults.append(
                f"{item.place}: {judgment.document!r} has grade {judgment.grade} for "
                f"{judgment.query_id!r}, but {earlier.value.grade} on {earlier.place}."
            )


def _unknown_keys(lines: Sequence[Placed[QueryLine]]) -> Iterator[str]:
    counts: Counter[str] = Counter()
    for placed in lines:
        counts.update(list(placed.value.model_extra or ()))
        for judged in placed.value.judgments:
            counts.update(f"judgments.{key}" for key in judged.model_extra or {})
    for key, count in counts.items():
        yield f"The key {key!r} has no meaning here and was ignored ({count:,} times)."


def _message(name: str, faults: Sequence[str]) -> str:
    shown = [f"  {fault}" for fault in faults[:FAULTS_SHOWN]]
    if len(faults) > FAULTS_SHOWN:
        shown.append(f"  and {len(faults) - FAULTS_SHOWN:,} more.")
    return "\n".join([f"The query set {name!r} was not read; correct the file and give it again:", *shown])

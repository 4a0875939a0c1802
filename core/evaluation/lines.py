"""The bytes of one file of judged queries -> its records, each with the place where it stands.

Invariant: a line gives a record or a fault, never neither (blank lines apart), so that whoever
calls can refuse the whole file and say why.
"""

import json
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Generic, TypeVar

from pydantic import AfterValidator, AliasChoices, AliasPath, BaseModel, ConfigDict, Field, ValidationError

from core.evaluation.query_sets import MAX_GRADE, UNSPECIFIED_KIND, Judgment, normal_name
from core.model.search import MAX_QUERY_CHARACTERS

TSV_HEADER = ("query_id", "doc_id", "grade")

Value = TypeVar("Value")


def _not_too_long(text: str) -> str:
    length = len(unicodedata.normalize("NFKC", text))
    if length > MAX_QUERY_CHARACTERS:
        raise ValueError(
            f"the text has {length:,} characters; at most {MAX_QUERY_CHARACTERS:,} are allowed"
        )
    return text


_Filled = Annotated[str, Field(min_length=1)]
_Name = Annotated[str, Field(min_length=1), AfterValidator(normal_name)]
_QueryText = Annotated[str, Field(min_length=1), AfterValidator(_not_too_long)]


class _Line(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True, extra="allow", str_strip_whitespace=True)


class JudgmentLine(_Line):
    """One judgment inside a query's line."""

    document: _Name
    grade: Annotated[int, Field(ge=0, le=MAX_GRADE)]
    heading: _Name | None = None


class QueryLine(_Line):
    """One line of queries; keys that have no meaning here are in `model_extra`."""

    query_id: _Filled
    text: _QueryText
    kind: _Filled = UNSPECIFIED_KIND
    language: Annotated[_Filled | None, Field(validation_alias=AliasChoices("language", "lang"))] = None
    category: Annotated[
        _Filled | None, Field(validation_alias=AliasChoices("category", AliasPath("filter", "category")))
    ] = None
    right_category: _Filled | None = None
    notes: str = ""
    judgments: list[JudgmentLine] = []


@dataclass(frozen=True, slots=True)
class Findings:
    """What reading met, in the order it was met; the two lists grow while a set is read."""

    faults: list[str]
    warnings: list[str]


@dataclass(frozen=True, slots=True)
class Placed(Generic[Value]):
    """A value and where it stands, for example `qrels.tsv line 4`."""

    place: str
    value: Value


def _lines(file: str, data: bytes, findings: Findings) -> Iterator[tuple[str, str]]:
    r"""Yield (place, line) of lines that are not blank; only `\n` and `\r\n` end a line."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        place = _place(file, data[: error.start].count(b"\n") + 1)
        findings.faults.append(f"{place}: byte 0x{data[error.start]:02x} is not UTF-8. Save it as UTF-8.")
        return
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            yield _place(file, number), line


def _place(file: str, number: int) -> str:
    return f"{file} line {number}".strip()


def query_lines(file: str, data: bytes, findings: Findings) -> Iterator[Placed[QueryLine]]:
    """Yield the records of a JSONL file; lines with faults go to the findings instead.

    Args:
        file: its name in the faults; "" when there is only one.
        data: the whole file, UTF-8 with or without a byte order mark.
        findings: takes the faults.
    """
    for place, line in _lines(file, data, findings):
        try:
            yield Placed(place, QueryLine.model_validate(_json_object(line)))
        except ValidationError as error:
            findings.faults.extend(f"{place}: {sentence}" for sentence in _sentences(error))
        except (ValueError, RecursionError) as error:
            findings.faults.append(f"{place}: {error}.")


def _json_object(line: str) -> dict[str, object]:
    try:
        record = json.loads(line)
    except json.JSONDecodeError as error:
        raise ValueError(f"not valid JSON ({error.msg} at column {error.colno})") from error
    if isinstance(record, dict):
        return record
    raise ValueError("a line must be a JSON object, in braces")


def _sentences(error: ValidationError) -> Iterator[str]:
    for fault in error.errors(include_url=False):
        field = ".".join(str(part) for part in fault["loc"])
        message = fault["msg"].removeprefix("Value error, ")
        yield f"{field}: {message}." if field else f"{message}."


def judgment_lines(
    file: str, data: bytes, known: set[str] | None, findings: Findings
) -> Iterator[Placed[Judgment]]:
    """Yield the rows of a file of judgments; rows with faults go to the findings instead.

    Args:
        file: its name in the faults.
        data: the whole file, UTF-8, a header and tabs between the cells.
        known: ids that a row may name; None checks none, for a query file that has faults itself.
        findings: takes the faults.
    """
    rows = _lines(file, data, findings)
    place, header = next(rows, (_place(file, 1), ""))
    if tuple(cell.strip() for cell in header.split("\t")) != TSV_HEADER:
        findings.faults.append(f"{place}: the header must be {', '.join(TSV_HEADER)} with tabs between.")
        return
    for place, row in rows:
        cells = [cell.strip() for cell in row.split("\t")]
        fault = _row_fault(cells, known)
        if fault:
            findings.faults.append(f"{place}: {fault}")
        else:
            yield Placed(place, Judgment(cells[0], normal_name(cells[1]), int(cells[2])))


def _row_fault(cells: Sequence[str], known: set[str] | None) -> str:
    if len(cells) != len(TSV_HEADER):
        return f"{len(cells)} columns; {len(TSV_HEADER)} are needed."
    query_id, document, grade = cells
    if not query_id or not document:
        return "the query id or the document is empty."
    if not re.fullmatch("[0-9]{1,2}", grade) or int(grade) > MAX_GRADE:
        return f"the grade is {grade!r}; it must be a whole number from 0 to {MAX_GRADE}."
    if known is not None and query_id not in known:
        return f"there is no query {query_id!r}."
    return ""

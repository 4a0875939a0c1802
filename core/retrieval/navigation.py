"""Query navigation: the words of a query may say which category it belongs to.

    domains.toml -> DomainDictionary; query + dictionary + categories that hold something -> Navigation

Invariants: exactly one matching domain sets a category, none or several set none; a category that was
asked for by hand stays; a score is never touched. What was decided is explained in words.
"""

import hashlib
import json
import unicodedata
from collections.abc import Collection, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from core.errors import SettingsInvalid
from core.model.lookup import MatchedDomain, Navigation
from core.ports import KnowledgeSearchPort
from core.retrieval.configuration import Configuration
from core.retrieval.query import fold, words_in

SETTING = "retrieval.navigation.domains"


@dataclass(frozen=True, slots=True)
class Domain:
    """A category and the words that speak of it: codes, names, aliases in any language.

    Attributes:
        category: as documents carry it, trimmed and in NFC.
        words: none of them blank; an empty tuple never matches.

    Raises:
        SettingsInvalid: the category is blank, or a word holds no letter and no digit.
    """

    category: str
    words: tuple[str, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "category", _name(self.category))
        faults = list(_word_faults(self.category, list(self.words)))
        if not self.category:
            faults.append("a category is blank")
        if faults:
            raise _refusal("This domain cannot be used", faults)


@dataclass(frozen=True, slots=True)
class DomainDictionary:
    """Domains in the order of the file. A word of two domains matches both."""

    domains: tuple[Domain, ...]

    @property
    def words(self) -> tuple[str, ...]:
        """Every word once, in the order of the domains."""
        return tuple(dict.fromkeys(word for domain in self.domains for word in domain.words))

    @property
    def hash(self) -> str:
        """12 hex digits over every category and word."""
        canonical = json.dumps(asdict(self), ensure_ascii=False)
        return hashlib.sha256(canonical.encode("utf-8")).hexdigest()[:12]


def matching_domains(query: str, dictionary: DomainDictionary) -> tuple[MatchedDomain, ...]:
    """Return the domains with a word in the query; see `query.words_in` for what that means."""
    found = words_in(query, dictionary.words)
    pairs = (
        (domain.category, tuple(word for word in found if word in domain.words))
        for domain in dictionary.domains
    )
    return tuple(MatchedDomain(category, words) for category, words in pairs if words)


def navigate(query: str, dictionary: DomainDictionary, categories: Collection[str]) -> Navigation:
    """Decide which category the words of a query set.

    Args:
        query: normalised.
        dictionary: may be empty.
        categories: those that hold a document; only the ones of matching domains are looked at.

    Returns:
        A category only when exactly one domain matches and its category holds a document.
    """
    matched = matching_domains(query, dictionary)
    if not matched:
        what = "no word of the domain dictionary stands in the query"
        return Navigation(matched, None, f"{what}, so no category is set")
    named = ", ".join(_described(domain, categories) for domain in matched)
    if len(matched) > 1:
        return Navigation(matched, None, f"{len(matched)} domains match: {named}; several set no category")
    category = matched[0].category
    if category not in categories:
        return Navigation(matched, None, f"one domain matches: {named}, so no category is set")
    return Navigation(matched, category, f"one domain matches: {named}; it sets the category")


def navigate_lookup(
    port: KnowledgeSearchPort,
    query: str,
    configuration: Configuration,
    dictionary: DomainDictionary | None,
) -> Navigation | None:
    """Navigate a lookup, counting the documents of matching categories in its knowledge base.

    Args:
        port: asked for counts only, and only when the query could set a category.
        query: normalised.
        configuration: says whether navigation is asked for, and the category asked for by hand.
        dictionary: None when no dictionary is configured.

    Returns:
        None when navigation is not asked for.

    Raises:
        StoreError: the store does not answer.
    """
    if not configuration.navigate:
        return None
    if dictionary is None:
        return Navigation((), None, f"there is no domain dictionary; {SETTING} names one")
    matched = matching_domains(query, dictionary)
    if configuration.category is not None:
        by_hand = f"category '{configuration.category}' was asked for by hand, so the query sets none"
        return Navigation(matched, None, by_hand)
    scope = configuration.kb_scope
    held = {domain.category for domain in matched if port.count(category=domain.category, kb_scope=scope)}
    return navigate(query, dictionary, held)


def read_domains(path: Path) -> DomainDictionary:
    """Read a dictionary of the form `[domains]`, `payments = ["PAY-3107", "refund", "退款"]`.

    Of words that differ only in case, width or white space the first of a domain stays.

    Raises:
        SettingsInvalid: the file cannot be read, is not TOML in UTF-8, or has faults; lists all of them.
    """
    content = _content(path)
    faults = [f"{name}: there is no such entry, only [domains]" for name in content if name != "domains"]
    table = content.get("domains")
    if not isinstance(table, dict):
        faults.append("domains: this must be a table, [domains], of categories with their words")
        table = {}
    seen: set[str] = set()
    for written, words in table.items():
        name = _name(written)
        if not name:
            faults.append("domains: a category is blank")
        elif name in seen:
            faults.append(f"domains.{name}: this category stands there twice")
        seen.add(name)
        faults += _word_faults(name, words)
    if faults:
        raise _refusal(f"The domain dictionary {path} cannot be used", faults)
    return DomainDictionary(tuple(Domain(name, _without_repeats(words)) for name, words in table.items()))


def _content(path: Path) -> dict[str, object]:
    import tomllib  # only a configured dictionary needs it

    try:
        return tomllib.loads(path.read_bytes().decode("utf-8-sig"))
    except FileNotFoundError as error:
        raise SettingsInvalid(
            f"{SETTING} names {path}, and there is no such file. Write one, or leave the setting empty."
        ) from error
    except OSError as error:
        raise SettingsInvalid(f"{path}, named by {SETTING}, cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise SettingsInvalid(f"{path} is not text in UTF-8: {error}. Save it as UTF-8.") from error
    except tomllib.TOMLDecodeError as error:
        raise SettingsInvalid(f"{path} is not valid TOML: {error}") from error


def _name(category: str) -> str:
    return unicodedata.normalize("NFC", category).strip()


def _word_faults(category: str, words: object) -> Iterator[str]:
    if not isinstance(words, list):
        yield f'domains.{category}: this must be a list of words, ["refund", "退款"] (given: {words!r})'
        return
    for number, word in enumerate(words, start=1):
        if not isinstance(word, str):
            yield f"domains.{category}: word {number} must be text in quotes (given: {word!r})"
        elif not word.strip():
            yield f"domains.{category}: word {number} is empty"
        elif not any(character.isalnum() for character in word):
            yield f"domains.{category}: word {number} holds no letter and no digit (given: {word!r})"


def _without_repeats(words: list[str]) -> tuple[str, ...]:
    first: dict[str, str] = {}
    for word in words:
        first.setdefault(fold(word), word.strip())
    return tuple(first.values())


def _refusal(head: str, faults: list[str]) -> SettingsInvalid:
    return SettingsInvalid("\n  ".join([f"{head}:", *faults]))


def _described(domain: MatchedDomain, categories: Collection[str]) -> str:
    empty = "" if domain.category in categories else ", whose category holds no document"
    return f"'{domain.category}' ({', '.join(domain.words)}){empty}"

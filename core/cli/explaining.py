"""The command `why`: where an expected chunk went, and what would keep it.

In: a question and what is expected. Out: text or JSON on standard output. Invariant: what is printed
is what `explain_absence` found; a number that was not measured is null in JSON.
"""

import json
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

import click

from core.cli.arguments import text_argument
from core.cli.asking import Asking
from core.cli.connecting import services
from core.cli.tables import printable

if TYPE_CHECKING:
    from core.model.why import Explanation
    from core.retrieval.configuration import Configuration
    from core.wiring import Services


def register(group: click.Group) -> None:
    """Add the command to the group."""
    group.add_command(why)


@click.command(cls=Asking, short_help="Say where an expected chunk went, and what would keep it.")
@click.argument("question", metavar="QUERY")
@click.option(
    "--expect",
    required=True,
    metavar="NAME",
    help="Evidence key, doc_id or file name; of a document any chunk counts.",
)
@click.option("--category", metavar="NAME", help="Ask this category first.")
@click.option(
    "--mode", type=click.Choice(["dense", "hybrid"]), help="Default: retrieval.search.mode of the settings."
)
@click.option(
    "--policy",
    type=click.Choice(["strict", "fallback", "parallel"]),
    help="What a poor answer of the category leads to. Default: retrieval.filter.policy.",
)
@click.option("--kb-scope", metavar="NAME", help="Ask this knowledge base only.")
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
def why(
    *,
    question: str,
    expect: str,
    category: str | None,
    mode: str | None,
    policy: str | None,
    kb_scope: str | None,
    as_json: bool,
) -> None:
    """Look QUERY up and say which stage lost the expected chunk, and by how much.

    Then come the smallest single changes of a setting that keep it, the cheapest first. Each of them was
    run before it is printed.
    """
    from core.retrieval.why.explaining import explain_absence

    typed, expected = text_argument("query", question), text_argument("expected chunk", expect)
    with services() as connected:
        configuration = _configured(
            connected.configuration, category=category, mode=mode, policy=policy, kb_scope=kb_scope
        )
        connected.require_scope(configuration.kb_scope)
        connected.require_category(configuration.category, kb_scope=configuration.kb_scope)
        explanation = explain_absence(
            connected.live,
            connected.embedder,
            typed,
            expected,
            configuration,
            domains=connected.domains,
            in_catalog=lambda name: _in_catalog(connected, name, configuration.kb_scope),
        )
    if as_json:
        click.echo(json.dumps(asdict(explanation), ensure_ascii=False, indent=2, allow_nan=False))
    else:
        click.echo(explanation_text(explanation))


def explanation_text(explanation: "Explanation") -> str:
    """Print an explanation: the end, the standing on each route, then the changes, cheapest first."""
    lines = [explanation.sentence]
    if explanation.standings:
        under = explanation.category_filter
        where = "all categories" if under is None else f"category {under}"
        lines += ["", f"Ranks in {where}:", *(f"  {it.sentence}" for it in explanation.standings)]
    if explanation.outlook:
        lines += ["", explanation.outlook]
    lines += [f"  {number}. {found.sentence}" for number, found in enumerate(explanation.rescues, start=1)]
    if explanation.nearest is not None:
        lines.append(f"  {explanation.nearest.sentence}")
    lines += ["", f"Build {explanation.build}, configuration {explanation.configuration_hash}."]
    return printable("\n".join(lines), kept="\n")


def _configured(
    settings: "Configuration",
    *,
    category: str | None,
    mode: str | None,
    policy: str | None,
    kb_scope: str | None,
) -> "Configuration":
    from core.model.lookup import FilterPolicy
    from core.model.search import SearchMode

    return replace(
        settings,
        mode=settings.mode if mode is None else SearchMode(mode),
        policy=settings.policy if policy is None else FilterPolicy(policy),
        category=None if category is None else text_argument("category", category),
        kb_scope=None if kb_scope is None else text_argument("kb_scope", kb_scope),
    )


def _in_catalog(connected: "Services", name: str, kb_scope: str | None) -> bool:
    documents = connected.catalog.documents(kb_scope=kb_scope)
    return any(name in (document.doc_id, document.name) for document in documents)

"""``plimsoll explain``: why a pod is where it is, or why it still waits."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import click

from plimsoll.errors import ApiError, ObjectError, PlimsollError

if TYPE_CHECKING:
    from rich.console import Console

    from plimsoll.cli.asking import Cluster
    from plimsoll.reporting.tables import Table

Json = dict[str, Any]

# What a table is laid out for where nobody's terminal says how wide it is.
_WIDTH = 100
_EARLIER_SHOWN = 5


@click.group()
def explain() -> None:
    """Say why things are as they are."""


@explain.command("pod")
@click.argument("name")
@click.option("-n", "--namespace", help="The pod's namespace; by default the kubeconfig context's.")
@click.option("-o", "--output", type=click.Choice(["table", "json"]), default="table", show_default=True)
@click.option("--server", metavar="URL", help="Ask this Plimsoll's metrics address instead of the leader.")
@click.option("--kubeconfig", metavar="FILE", help="By default KUBECONFIG, ~/.kube/config, the service account.")
@click.option("--context", help="The kubeconfig context; by default the current one.")
@click.option("--operator-namespace", default="plimsoll-system", show_default=True, help="Where Plimsoll runs.")
@click.option("--operator-port", default=10260, show_default=True, help="The port of its metrics address.")
@click.option("--scheduler-name", default="plimsoll", show_default=True, help="The name that pods ask for.")
def explain_pod(
    *,
    name: str,
    namespace: str | None,
    output: str,
    server: str | None,
    kubeconfig: str | None,
    context: str | None,
    operator_namespace: str,
    operator_port: int,
    scheduler_name: str,
) -> None:
    """Show the decisions about pod NAME, the newest first.

    They come from the leader's memory or, where it has none, from the pod's own annotation and condition.
    """
    from plimsoll.cli.asking import Cluster, ask_server

    def cluster() -> Cluster:
        return Cluster(kubeconfig=kubeconfig, context=context)

    try:
        if server:
            place = namespace or "default"
            document = ask_server(server, f"{place}/{name}")
            asked = cluster() if not document["decisions"] else None
        else:
            asked = cluster()
            place = namespace or asked.namespace
            document = _ask_leader(asked, f"{place}/{name}", namespace=operator_namespace, port=operator_port)
        if asked and not document["decisions"]:
            document = _ask_pod(asked.pod(place, name), scheduler_name=scheduler_name)
        _show(document, output=output)
    except PlimsollError as error:
        raise click.ClickException(_line(str(error))) from error


def _ask_leader(cluster: Cluster, pod_key: str, *, namespace: str, port: int) -> Json:
    """The leader's memory is a help, not a need: without it the pod itself still says something."""
    try:
        return cluster.decisions_of_leader(pod_key, namespace=namespace, port=port)
    except ApiError as error:
        click.echo(_line(f"Note: the leader could not be asked: {error}"), err=True)
        return {"pod": pod_key, "decisions": []}


def _ask_pod(pod: Json, *, scheduler_name: str) -> Json:
    from plimsoll.cluster.pod import DECISION_ANNOTATION
    from plimsoll.reporting.annotation import parse
    from plimsoll.reporting.explanation import annotation_document
    from plimsoll.reporting.pod_state import pod_state

    metadata = pod.get("metadata") or {}
    pod_key = f"{metadata.get('namespace')}/{metadata.get('name')}"
    document: Json = {"pod": pod_key, "decisions": []}
    if text := (metadata.get("annotations") or {}).get(DECISION_ANNOTATION):
        try:
            return document | {"decisions": [annotation_document(pod_key, parse(text))]}
        except ObjectError as error:
            click.echo(_line(f"Note: {error}"), err=True)
    return document | {"state": pod_state(pod, scheduler_name=scheduler_name)}


def _show(document: Json, *, output: str) -> None:
    if output == "json":
        click.echo(json.dumps(document, indent=2))
        return
    if not document["decisions"]:
        click.echo(_line(document.get("state") or f"nothing is known about {document.get('pod')}"))
        return
    try:
        _show_decisions(document["decisions"])
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        message = f"these decisions cannot be shown ({error!r}): use a plimsoll as new as the server, or -o json"
        raise ObjectError(message) from error


def _show_decisions(decisions: list[Json]) -> None:
    from rich.console import Console

    from plimsoll.reporting.tables import headline, node_table, reason_table, remarks

    newest, *earlier = decisions
    terminal = sys.stdout.isatty()
    # Names and sentences are data: neither markup nor emoji codes are looked for in them.
    console = Console(width=None if terminal else _WIDTH, highlight=False, markup=False, emoji=False)
    for sentence in (headline(newest), *remarks(newest)):
        click.echo(_line(sentence))
    _draw(console, node_table(newest))
    _draw(console, reason_table(newest))
    if earlier:
        click.echo(f"\nEarlier decisions ({len(earlier)}):")
    for decision in earlier[:_EARLIER_SHOWN]:
        click.echo(_line(f"  {headline(decision)}"))


def _draw(console: Console, table: Table) -> None:
    from rich.table import Table as Drawing

    if not table.rows:
        return
    drawing = Drawing(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    for column in table.columns:
        # A node's or a reason's name is what people copy: it is broken last.
        drawing.add_column(column, overflow="fold", no_wrap=column == "node")
    for row in table.rows:
        drawing.add_row(*row)
    console.print()
    console.print(drawing)


def _line(text: str) -> str:
    """One line, whatever a server put into it: no line breaks, no control sequences for the terminal."""
    indent = text[: len(text) - len(text.lstrip())]
    return indent + " ".join("".join(c if c.isprintable() else " " for c in text).split())

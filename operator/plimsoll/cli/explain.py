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

_HINT = "Use `plimsoll explain pod NAME` or `plimsoll explain --cluster FILE [POD]`."
# What a table is laid out for where nobody's terminal says how wide it is.
_WIDTH = 100
_EARLIER_SHOWN = 5
_MEND = "name its metrics address with --server"
# Columns of sentences and lists; the others hold names and numbers, which are not broken.
_PROSE = frozenset({"reason", "for example"})


class _Explain(click.Group):
    """``explain --cluster FILE [POD...]`` needs no name of a command: it is about the file's pods, however called."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        offline = any(arg == "--cluster" or arg.startswith("--cluster=") for arg in args)
        if offline and args[0] not in self.commands:
            args = ["cluster", *args]
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            raise click.UsageError(f"{error.format_message()} {_HINT}", ctx) from error

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            raise click.UsageError(f"{error.format_message()} {_HINT}", ctx) from error

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        super().format_options(ctx, formatter)
        options = (param for param in self.commands["cluster"].params if isinstance(param, click.Option))
        records = (option.get_help_record(ctx) for option in options)
        with formatter.section("Options of explain --cluster FILE [POD]"):
            formatter.write_dl([record for record in records if record])


@click.group(cls=_Explain)
def explain() -> None:
    """Say why things are as they are.

    ``explain pod NAME`` asks the running Plimsoll; ``explain --cluster FILE [POD]...`` judges the pending pods of a
    cluster that was written down with ``kubectl get ... -o json``, and touches none.
    """


@explain.command("cluster", hidden=True)
@click.option(
    "--cluster",
    "files",
    required=True,
    multiple=True,
    metavar="FILE",
    help="kubectl get ... -o json; - is standard input; may be given several times.",
)
@click.argument("names", nargs=-1, metavar="[POD]...")
@click.option("-n", "--namespace", help="Only its pods; by default those of all.")
@click.option("-o", "--output", type=click.Choice(["table", "json"]), default="table", show_default=True)
@click.option("--scheduler-name", default="plimsoll", show_default=True, help="Whose nominations count.")
def explain_cluster(
    *, files: tuple[str, ...], names: tuple[str, ...], namespace: str | None, output: str, scheduler_name: str
) -> None:
    """Judge each pending pod of FILE alone: every node's verdict, preemption, each term of the score.

    FILE holds what decides: nodes, pods, namespaces and, where pods use them, volumes, claims, storage classes, CSI
    objects, services, controllers, disruption budgets, resource claims, scheduling policies.
    """
    from plimsoll.cli.explaining_files import verdicts
    from plimsoll.cli.reading_files import file_title, read_items

    try:
        documents, remarks = verdicts(
            [item for file in files for item in read_items(file)],
            scheduler_name=scheduler_name,
            namespace=namespace,
            names=names,
            where=", ".join(map(file_title, files)),
        )
    except PlimsollError as error:
        raise click.ClickException(_line(str(error))) from error
    for remark in remarks:
        _remark(remark)
    if output == "json":
        click.echo(json.dumps(documents, indent=2))
        return
    for i, document in enumerate(documents):
        _show_verdict(document, first=i == 0)


def _show_verdict(document: Json, *, first: bool) -> None:
    from plimsoll.reporting.verdicts import refusal_table, verdict_legend, verdict_sentences, verdict_table

    if not first:
        click.echo()
    for sentence in verdict_sentences(document):
        click.echo(_line(sentence))
    console = _console()
    _draw(console, verdict_table(document))
    for line in verdict_legend(document):
        click.echo(_line(f"  {line}"))
    _draw(console, refusal_table(document))


@explain.command("pod")
@click.argument("name")
@click.option("-n", "--namespace", help="The pod's namespace; by default the kubeconfig context's.")
@click.option("-o", "--output", type=click.Choice(["table", "json"]), default="table", show_default=True)
@click.option("--server", metavar="URL", help="Ask this Plimsoll's metrics address instead of the leader.")
@click.option("--kubeconfig", default="", metavar="FILE", help="By default KUBECONFIG or ~/.kube/config.")
@click.option("--context", default="", help="Of the kubeconfig; by default its current one.")
@click.option("--operator-namespace", default="plimsoll-system", show_default=True, help="Where Plimsoll runs.")
@click.option("--operator-port", default=10260, show_default=True, help="The port of its metrics address.")
@click.option("--lease-name", default="", help="The Lease that its leader holds; by default the scheduler's name.")
@click.option("--scheduler-name", default="plimsoll", show_default=True, help="The name that pods ask for.")
def explain_pod(
    *,
    name: str,
    namespace: str | None,
    output: str,
    server: str | None,
    kubeconfig: str,
    context: str,
    operator_namespace: str,
    operator_port: int,
    lease_name: str,
    scheduler_name: str,
) -> None:
    """Show the decisions about pod NAME (or NAMESPACE/NAME), the newest first.

    They come from the leader's memory or, where it has none, from the pod's own annotation and condition.
    """
    from plimsoll.cli.asking import Cluster, ask_server
    from plimsoll.cli.pod_names import split_pod_name

    def cluster() -> Cluster:
        return Cluster(kubeconfig=kubeconfig, context=context)

    note = ""
    try:
        namespace, name = split_pod_name(name, namespace)
        if server:
            place, asked = namespace or "default", None
            document = ask_server(server, f"{place}/{name}")
        else:
            asked = cluster()
            place = namespace or asked.namespace
            leader = {"namespace": operator_namespace, "lease": lease_name or scheduler_name, "port": operator_port}
            document, note = _ask_leader(asked, f"{place}/{name}", leader)
        if not document["decisions"]:
            pod = (asked or cluster()).pod(place, name)
            _remark(note)
            document = _ask_pod(pod, scheduler_name=scheduler_name)
        _show(document, output=output)
    except PlimsollError as error:
        raise click.ClickException(_line(str(error))) from error


def _ask_leader(cluster: Cluster, pod_key: str, leader: Json) -> tuple[Json, str]:
    """The document, and why it is empty where the leader was not reached: the pod itself still says something."""
    try:
        return cluster.decisions_of_leader(pod_key, **leader), ""
    except ApiError as error:
        return {"pod": pod_key, "decisions": []}, f"the leader could not be asked: {error}; {_MEND}"


def _remark(note: str) -> None:
    if note:
        click.echo(_line(f"Note: {note}"), err=True)


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
            _remark(str(error))
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
    from plimsoll.reporting.tables import headline, legend, node_table, reason_table, remarks

    newest, *earlier = decisions
    console = _console()
    for sentence in (headline(newest), *remarks(newest)):
        click.echo(_line(sentence))
    _draw(console, node_table(newest))
    for line in legend(newest):
        click.echo(_line(f"  {line}"))
    _draw(console, reason_table(newest))
    if earlier:
        click.echo(f"\nEarlier decisions ({len(earlier)}):")
    for decision in earlier[:_EARLIER_SHOWN]:
        click.echo(_line(f"  {headline(decision)}"))


def _console() -> Console:
    from rich.console import Console

    # Names and sentences are data: neither markup nor emoji codes are looked for in them.
    return Console(width=None if sys.stdout.isatty() else _WIDTH, highlight=False, markup=False, emoji=False)


def _draw(console: Console, table: Table) -> None:
    from rich.table import Table as Drawing

    if not table.rows:
        return
    drawing = Drawing(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    for column in table.columns:
        drawing.add_column(column, overflow="fold", no_wrap=column not in _PROSE and " " not in column)
    for row in table.rows:
        drawing.add_row(*map(_line, row))
    console.print()
    # A node's name is what people copy: a terminal that is too narrow breaks lines, but nothing is left out.
    console.width = max(console.width, _needed(table))
    console.print(drawing)


def _needed(table: Table) -> int:
    """The width in which no name and no number is broken, with a space after each column."""
    cells = zip(table.columns, zip(*table.rows, strict=True), strict=True)
    unbroken = ([*column.split(), *texts] for column, texts in cells if column not in _PROSE)
    return sum(max(map(len, texts), default=0) + 1 for texts in unbroken)


def _line(text: str) -> str:
    """One line, whatever a server put into it: no line breaks, no control sequences for the terminal."""
    indent = text[: len(text) - len(text.lstrip())]
    return indent + " ".join("".join(c if c.isprintable() else " " for c in text).split())

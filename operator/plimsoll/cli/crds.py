"""``plimsoll crds``: the CustomResourceDefinitions, generated from the models."""

from __future__ import annotations

from pathlib import Path

import click

from plimsoll.policy.crd import FILE_NAME, render


@click.command()
@click.option(
    "--dir",
    "directory",
    type=click.Path(file_okay=False, path_type=Path),
    help="Write one file per resource here, instead of all of them to the standard output.",
)
def crds(directory: Path | None) -> None:
    """Print the CustomResourceDefinitions: `plimsoll crds | kubectl apply --server-side -f -`."""
    if directory is None:
        click.echo(render(), nl=False)
        return
    try:
        directory.mkdir(parents=True, exist_ok=True)
        (directory / FILE_NAME).write_text(render(), encoding="utf-8")
    except OSError as error:
        raise click.ClickException(f"cannot write to {directory}: {error.strerror}: choose another --dir") from error
    click.echo(f"wrote {directory / FILE_NAME}")

"""``ldiversity schema``: the JSON Schemas of the files and documents that this package reads and writes."""

from __future__ import annotations

import click

from ldiversity.faces.cli._command import Command

__all__ = ["command"]


@click.command("schema", cls=Command, short_help="JSON Schemas of files and answers.")
@click.argument("document")
def command(document: str) -> None:
    """Print the JSON Schema of a DOCUMENT: what a command prints with --json says under "schema" which one it is.

    A policy file holds a publication.

    \b
    ldiversity schema publication
    ldiversity schema release
    ldiversity schema audit
    """  # noqa: D301 - click reads the backspace
    from ldiversity.faces.cli.schemas import documents, schema_text

    known = [*documents(), "policy"]
    if document not in known:
        raise click.UsageError(f"DOCUMENT must be one of {', '.join(known)}, got {document!r}.")
    click.echo(schema_text("publication" if document == "policy" else document), nl=False)

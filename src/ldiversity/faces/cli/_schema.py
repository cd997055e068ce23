"""``ldiversity schema``: the JSON Schemas of the files that this package reads and writes."""

from __future__ import annotations

import click

from ldiversity.faces.cli._command import Command
from ldiversity.faces.cli.schemas import DOCUMENTS

__all__ = ["command"]


@click.command("schema", cls=Command, short_help="JSON Schemas of publication, release and faults.")
@click.argument("document", type=click.Choice([*DOCUMENTS, "policy"]))
def command(document: str) -> None:
    """Print the JSON Schema of a publication, which a policy file holds, of release.json, or of a fault in JSON."""
    from ldiversity.faces.cli.schemas import schema_text

    click.echo(schema_text("publication" if document == "policy" else document), nl=False)

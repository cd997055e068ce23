"""The collector's server: pages, endpoints and their limits."""

from __future__ import annotations

from ldiversity.collection.server._app import create_app
from ldiversity.collection.server._invitations import invitation_hashes, make_invitations
from ldiversity.collection.server._options import Address, ServerOptions
from ldiversity.collection.server._serve import serve

__all__ = ["Address", "ServerOptions", "create_app", "invitation_hashes", "make_invitations", "serve"]

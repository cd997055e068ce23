"""What every page of this package shares: guards of host and origin, security headers, limits and templates."""

from __future__ import annotations

from ldiversity.web._bodies import read_json_body
from ldiversity.web._guards import Guards, Policy, no_content
from ldiversity.web._headers import security_headers
from ldiversity.web._protocol import GuardedHttp, make_protocol
from ldiversity.web._rates import Rate, RateLimits
from ldiversity.web._refused import Refused, refusal_handlers
from ldiversity.web._static import StaticFiles
from ldiversity.web._templates import page_templates

__all__ = [
    "GuardedHttp",
    "Guards",
    "Policy",
    "Rate",
    "RateLimits",
    "Refused",
    "StaticFiles",
    "make_protocol",
    "no_content",
    "page_templates",
    "read_json_body",
    "refusal_handlers",
    "security_headers",
]

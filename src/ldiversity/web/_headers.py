"""The headers of every answer, also of errors."""

from __future__ import annotations

from typing import Final, TypeAlias

__all__ = ["Headers", "security_headers"]

Headers: TypeAlias = tuple[tuple[bytes, bytes], ...]

_CONTENT_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"
)
"""Nothing comes from elsewhere, nothing goes elsewhere, and no text becomes a script."""

_UNUSED_FEATURES: Final = (
    "accelerometer",
    "autoplay",
    "browsing-topics",
    "camera",
    "display-capture",
    "encrypted-media",
    "fullscreen",
    "geolocation",
    "gyroscope",
    "magnetometer",
    "microphone",
    "midi",
    "payment",
    "publickey-credentials-get",
    "screen-wake-lock",
    "usb",
    "xr-spatial-tracking",
)


def security_headers(*, https: bool) -> Headers:
    """The headers that keep a page to itself.

    Parameters
    ----------
    https
        Whether people reach the server by HTTPS; browsers are then told to use nothing else for a year.

    Examples
    --------
    >>> dict(security_headers(https=False))[b"referrer-policy"]
    b'no-referrer'
    """
    said = {
        "content-security-policy": _CONTENT_POLICY,
        "referrer-policy": "no-referrer",
        "x-content-type-options": "nosniff",
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
        "permissions-policy": ", ".join(f"{feature}=()" for feature in _UNUSED_FEATURES),
    }
    if https:
        said["strict-transport-security"] = "max-age=31536000"
    return tuple((name.encode(), text.encode()) for name, text in said.items())

"""How a server is reached: addresses, hosts, and whose address is counted."""

from __future__ import annotations

import pytest

from ldiversity.collection.server import Address, ServerOptions
from ldiversity.errors import ParameterError
from ldiversity.web import Rate
from tests.collection.servers import application, signed_survey

HERE = Address("127.0.0.1", 8000)
OUTSIDE = Address("192.0.2.7", 8000)
PUBLIC = "https://survey.example"


@pytest.mark.parametrize(
    ("address", "url", "hosts"),
    [
        (HERE, None, {"127.0.0.1:8000", "localhost:8000"}),
        (Address("::1", 80), None, {"[::1]:80", "[::1]", "localhost:80", "localhost"}),
        (HERE, PUBLIC, {"127.0.0.1:8000", "localhost:8000", "survey.example"}),
        (HERE, f"{PUBLIC}:443/path/", {"127.0.0.1:8000", "localhost:8000", "survey.example"}),
        (OUTSIDE, f"{PUBLIC}:8443", {"192.0.2.7:8000", "survey.example:8443"}),
    ],
)
def test_a_server_answers_for_its_own_names_only(address: Address, url: str | None, hosts: set[str]) -> None:
    assert {host.decode() for host in ServerOptions.reached_at(address, url).hosts} == hosts


@pytest.mark.parametrize(
    ("address", "url", "said", "believed"),
    [
        (HERE, None, None, False),
        (HERE, PUBLIC, None, True),  # only a proxy on this machine can reach it
        (OUTSIDE, PUBLIC, None, False),  # anybody can, and write what they like
        (OUTSIDE, PUBLIC, True, True),
        (HERE, PUBLIC, False, False),
    ],
)
def test_forwarded_addresses_are_believed_only_from_the_holders_proxy(
    *, address: Address, url: str | None, said: bool | None, believed: bool
) -> None:
    assert ServerOptions.reached_at(address, url, forwarded=said).forwarded is believed


@pytest.mark.parametrize(
    ("forwarded", "statuses"),
    [(False, [200, 200, 429, 429]), (True, [200, 200, 200, 429])],
)
def test_rates_count_the_last_forwarded_address_if_it_is_believed(
    *, tmp_path_factory: pytest.TempPathFactory, forwarded: bool, statuses: list[int]
) -> None:
    addresses = ["192.0.2.1", "192.0.2.1", "192.0.2.1, 192.0.2.2", "192.0.2.3, 192.0.2.1"]
    rare = Rate(0.2, 1e-9)  # two pages, of a tenth each
    with application(tmp_path_factory.mktemp("rates"), signed_survey(), each=rare, forwarded=forwarded) as asked:
        found = [asked.client.get("/v1/survey", headers={"X-Forwarded-For": one}).status_code for one in addresses]

    assert found == statuses


@pytest.mark.parametrize(
    "listen",
    ["", "8000", ":8000", "survey.example:80", "127.0.0.1:", "127.0.0.1:-1", "[::1:80", "::1:80", "[127.0.0.1]:80"],
)
def test_what_is_no_address_is_refused(listen: str) -> None:
    with pytest.raises(ParameterError, match="listen"):
        Address.read(listen)


@pytest.mark.parametrize(
    "url", ["", "survey.example", "ftp://survey.example", "https://", "https://a?b", "https://a#b", "https://a:99999"]
)
def test_what_is_no_public_address_is_refused(url: str) -> None:
    with pytest.raises(ParameterError, match="url"):
        ServerOptions.reached_at(HERE, url)

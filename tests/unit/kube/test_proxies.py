"""Through which proxy is the API server reached?"""

import pytest

from firebolt_operator.errors import ConfigurationError
from firebolt_operator.kube.identity import basic
from firebolt_operator.kube.proxies import Proxy, parse_proxy, proxy_of

CORNER = Proxy(url="http://corner:3128")


@pytest.mark.parametrize(
    ("server", "env", "expected"),
    [
        pytest.param("https://10.0.0.1:443", {"HTTPS_PROXY": "http://corner:3128"}, CORNER, id="https"),
        pytest.param("https://10.0.0.1:443", {"https_proxy": "http://corner:3128"}, CORNER, id="lower-case"),
        pytest.param("https://api", {"HTTPS_PROXY": "corner:3128"}, CORNER, id="without-a-scheme"),
        pytest.param("https://api", {"HTTPS_PROXY": "http://corner:3128/"}, CORNER, id="with-a-slash"),
        pytest.param("http://api", {"HTTP_PROXY": "http://corner:3128"}, CORNER, id="http"),
        pytest.param("https://api", {"HTTP_PROXY": "http://corner:3128"}, None, id="of-the-other-scheme"),
        pytest.param("https://api", {"HTTPS_PROXY": ""}, None, id="empty"),
        pytest.param("https://api", {}, None, id="unset"),
        pytest.param(
            "https://api", {"HTTPS_PROXY": "http://corner"}, Proxy(url="http://corner:80"), id="on-the-usual-port"
        ),
        pytest.param(
            "https://api",
            {"HTTPS_PROXY": "http://me:p%40ss@[fd00::1]:3128"},
            Proxy(url="http://[fd00::1]:3128", authorization=basic("me", "p@ss")),
            id="with-a-password",
        ),
    ],
)
def test_the_environment_names_a_proxy(server: str, env: dict[str, str], expected: Proxy | None) -> None:
    assert proxy_of(server, env) == expected


@pytest.mark.parametrize(
    ("server", "exceptions", "is_direct"),
    [
        ("https://api.shop.example", "*", True),
        ("https://api.shop.example", "a.example, shop.example", True),
        ("https://api.shop.example", ".shop.example", True),
        ("https://api.shop.example", "*.shop.example", True),
        ("https://shop.example", ".shop.example", False),
        ("https://shop.example", "SHOP.example", True),
        ("https://workshop.example", "shop.example", False),
        ("https://shop.example:6443", "shop.example:6443", True),
        ("https://shop.example:6443", "shop.example:443", False),
        ("https://shop.example", "shop.example:443", True),
        ("https://10.96.0.1:443", "10.0.0.0/8", True),
        ("https://10.96.0.1:443", "10.0.0.0/16", False),
        ("https://10.96.0.1:443", "nonsense/8,,", False),
        ("https://10.96.0.1:443", "10.96.0.1", True),
        ("https://10.96.0.1:443", "10.96.0.1:443", True),
        ("https://10.96.0.1:443", "96.0.1", False),
        ("https://[fd00::1]:443", "fd00::/8", True),
        ("https://[fd00::1]:443", "[fd00::1]:443", True),
        ("https://[fd00::1]:443", "fd00::1", True),
        ("https://[fd00::1]:443", "fd00::2", False),
        ("https://localhost:6443", "", True),
        ("https://127.0.0.2:6443", "", True),
        ("https://[::1]:6443", "", True),
        ("https://api", "", False),
    ],
)
def test_no_proxy_names_who_is_asked_directly(server: str, exceptions: str, is_direct: bool) -> None:
    found = proxy_of(server, {"HTTPS_PROXY": "http://corner:3128", "NO_PROXY": exceptions})
    assert (found is None) is is_direct


@pytest.mark.parametrize("address", ["socks5://me:s3cret@corner", "https://me:s3cret@corner", "http://:s3cret@", "x:y"])
def test_what_is_not_supported_is_refused_and_no_password_told(address: str) -> None:
    with pytest.raises(ConfigurationError, match=r"^proxy-url: only http:// proxies are supported") as caught:
        parse_proxy("proxy-url", address)
    assert "s3cret" not in str(caught.value)


@pytest.mark.parametrize("address", ["http://corner:s3cret", "http://[s3cret"])
def test_an_address_that_is_none_is_refused_and_not_told(address: str) -> None:
    with pytest.raises(ConfigurationError, match=r"^HTTPS_PROXY: not the address of a proxy$"):
        parse_proxy("HTTPS_PROXY", address)

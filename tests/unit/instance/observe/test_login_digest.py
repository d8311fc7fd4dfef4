"""When does the metadata service have to read its Secrets anew?"""

import string

from firebolt_operator.instance.observe.login_digest import LENGTH, login_content, slow_digest
from tests.support.instances import a_secret

LOGIN = {"username": b"u" * 32, "password": b"p" * 32}


def test_only_the_keys_that_are_mounted_count() -> None:
    authority = a_secret(digests={"root.pem": b"r" * 32, "notes": b"n" * 32})
    before = login_content(a_secret(digests=LOGIN), authority, "root.pem")
    noted = a_secret(digests={"root.pem": b"r" * 32, "notes": b"N" * 32})
    assert login_content(a_secret(digests={**LOGIN, "more": b"m" * 32}), noted, "root.pem") == before
    for secret, other, key in (
        (a_secret(digests={**LOGIN, "password": b"P" * 32}), authority, "root.pem"),
        (a_secret(digests={**LOGIN, "username": b"U" * 32}), authority, "root.pem"),
        (a_secret(digests=LOGIN), a_secret(digests={"root.pem": b"R" * 32}), "root.pem"),
        (a_secret(digests=LOGIN), authority, "notes"),
        (a_secret(digests=LOGIN), None, ""),
    ):
        assert login_content(secret, other, key) != before


async def test_the_same_content_has_the_same_digest_in_one_instance_only() -> None:
    one = await slow_digest(b"a", "uid-1")
    assert await slow_digest(b"a", "uid-1") == one
    assert len({one, await slow_digest(b"a", "uid-2"), await slow_digest(b"b", "uid-1")}) == 3
    assert len(one) == LENGTH * 2
    assert set(one) <= set(string.hexdigits)

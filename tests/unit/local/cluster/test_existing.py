"""Does a kubeconfig that cannot be used say what is wrong with it?"""

from pathlib import Path

import pytest
import yaml

from firebolt_local.cluster.existing import check_existing, read_existing, user_kubeconfig
from firebolt_local.errors import LocalError
from firebolt_operator.refs import Manifest


def a_kubeconfig(cluster: Manifest) -> Manifest:
    return {
        "current-context": "here",
        "contexts": [{"name": "here", "context": {"cluster": "mine", "user": "me"}}],
        "clusters": [{"name": "mine", "cluster": cluster}],
    }


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        pytest.param("{{{", "is not YAML", id="no-yaml"),
        pytest.param("", "names no current cluster", id="empty"),
        pytest.param("[]", "names no current cluster", id="a-list"),
        pytest.param("current-context: gone\ncontexts: []\nclusters: []", "names no current cluster", id="no-context"),
        pytest.param(yaml.dump(a_kubeconfig({"server": "http://127.0.0.1:1"})), "only https://", id="plain-http"),
        pytest.param(
            yaml.dump(a_kubeconfig({"server": "https://127.0.0.1:1", "certificate-authority-data": "bm9wZQ=="})),
            "certificate authority",
            id="no-certificate",
        ),
    ],
)
def test_given_a_bad_kubeconfig_then_one_sentence_names_it(tmp_path: Path, content: str, sentence: str) -> None:
    path = tmp_path / "config"
    path.write_text(content)
    with pytest.raises(LocalError, match=sentence) as caught:
        read_existing(path)
    assert str(path) in str(caught.value)


def test_given_a_folder_instead_of_a_file_then_it_says_so(tmp_path: Path) -> None:
    with pytest.raises(LocalError, match="cannot be read"):
        read_existing(tmp_path)


def test_given_nobody_at_the_address_then_it_says_so(tmp_path: Path) -> None:
    path = tmp_path / "config"
    path.write_text(yaml.dump(a_kubeconfig({"server": "https://127.0.0.1:1"})))
    with pytest.raises(LocalError, match="does not answer"):
        check_existing(read_existing(path))


def test_given_several_paths_then_the_first_that_exists_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    there = tmp_path / "there"
    there.write_text("")
    monkeypatch.setenv("KUBECONFIG", f"{tmp_path / 'missing'}:{there}")
    assert user_kubeconfig() == there
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "missing"))
    with pytest.raises(LocalError, match="there is no kubeconfig"):
        user_kubeconfig()

"""Are both versions of control groups told apart, and is a cluster's group found and removed in each?"""

from dataclasses import replace
from pathlib import Path

import pytest

from firebolt_local.errors import LocalError
from firebolt_local.node.cgroups import ClusterGroup, Hierarchy, is_unified, read_hierarchies

UNIFIED = "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate"
HYBRID = """\
27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard
31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755
32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct
39 31 0:36 / /sys/fs/cgroup/pids rw,relatime shared:9 - cgroup cgroup rw,pids
40 31 0:37 / /sys/fs/cgroup/systemd rw,relatime - cgroup cgroup rw,name=systemd
41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw
99 31 0:38 / /somewhere/else rw,relatime - cgroup2 cgroup2 rw"""


def test_given_version_2_alone_then_it_is_unified() -> None:
    found = read_hierarchies(UNIFIED)
    assert found == [Hierarchy(Path("/sys/fs/cgroup"), True, frozenset())]
    assert is_unified(found)


def test_given_both_versions_then_version_1_has_the_controllers() -> None:
    found = read_hierarchies(HYBRID)
    assert {each.folder.name: each.controllers for each in found} == {
        "cpu,cpuacct": {"cpu", "cpuacct"},
        "pids": {"pids"},
        "systemd": {"name=systemd"},
        "unified": frozenset(),
    }
    assert not is_unified(found)
    assert not is_unified([])


@pytest.fixture(params=[UNIFIED, HYBRID], ids=["version-2", "version-1"])
def group(request: pytest.FixtureRequest, tmp_path: Path) -> ClusterGroup:
    """In folders that only look like control groups: what is made and removed is what counts here."""
    moved = [replace(each, folder=tmp_path / each.folder.relative_to("/")) for each in read_hierarchies(request.param)]
    for each in moved:
        each.folder.mkdir(parents=True, exist_ok=True)
    return ClusterGroup("firebolt-local-x", moved)


def test_given_a_group_then_our_programs_and_each_nodes_pods_are_apart(group: ClusterGroup, tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "firebolt-local-x"):
        folder.mkdir(exist_ok=True)
    _prepare_controllers(group)
    group.create(2)
    made = {path.parent.parent.name for path in tmp_path.rglob("firebolt-local-x/node-2")}
    assert made == ({"cgroup"} if group.is_unified else {"cpu,cpuacct", "pids", "systemd"})
    joined = Path(group.joined()[-1])
    assert joined.parent.is_dir()
    assert joined.parts[-4:] == ("cgroup" if group.is_unified else "pids", "firebolt-local-x", "system", "cgroup.procs")
    assert group.root_of(2) == "/firebolt-local-x/node-2"


def test_given_version_2_then_controllers_are_passed_on(tmp_path: Path) -> None:
    group = ClusterGroup("x", [Hierarchy(tmp_path, True, frozenset())])
    _prepare_controllers(group)
    group.create(1)
    assert (tmp_path / "cgroup.subtree_control").read_text() == "+memory"
    assert (tmp_path / "x" / "cgroup.subtree_control").read_text() == "+memory"


def test_when_removed_then_it_is_gone_from_every_hierarchy(tmp_path: Path) -> None:
    group = ClusterGroup("x", [Hierarchy(tmp_path / name, False, frozenset({name})) for name in ("cpu", "pids")])
    group.create(2)
    (tmp_path / "cpu" / "x" / "node-1" / "kubepods" / "pod1").mkdir(parents=True)
    (tmp_path / "cpu" / "others").mkdir()
    group.remove()
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["cpu", "others", "pids"]


def test_given_nothing_can_be_made_then_it_says_where_it_could(tmp_path: Path) -> None:
    (tmp_path / "x").touch()
    with pytest.raises(LocalError, match="needs a machine of its own"):
        ClusterGroup("x", [Hierarchy(tmp_path, False, frozenset({"pids"}))]).create(1)


def _prepare_controllers(group: ClusterGroup) -> None:
    """Files that the kernel would have made."""
    for each in group.hierarchies:
        for folder in (each.folder, each.folder / group.name):
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "cgroup.controllers").write_text("memory")

"""Every fault of a file at once: none hides another, and none follows from another."""

from __future__ import annotations

from itertools import combinations

import pytest

from cardan.describe.files import read_bytes

TOML = """cardan = 1
name = "arm"
[[link]]
M = 1
ZZ = 0.1
[[link]]
antecedent = 1
joint = "revolute"
d = 0.5
M = 2
limits = { lower = -1, upper = 1 }
[[link]]
antecedent = 2
joint = "prismatic"
alpha = "pi/2"
M = 1
variable = "s"
"""
PAR = """(* Robotname = 'arm' *)
NF = 3
NL = 3
NJ = 3
Type = 0
ant = {0,1,2}
sigma = {0,0,1}
b = {0,0,0}
d = {0,1,0}
r = {0,0,r3}
gamma = {0,0,0}
alpha = {0,pi/2,0}
mu = {1,1,1}
theta = {t1,t2,0}
"""
PAR += "".join(
    f"{key} = {{1,1,1}}\n"
    for key in ("XX", "XY", "XZ", "YY", "YZ", "ZZ", "MX", "MY", "MZ", "M", "IA", "FV", "FS")
)
URDF = """<robot name="arm">
<link name="a"/>
<link name="b"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="c"/>
<joint name="j1" type="revolute"><parent link="a"/><child link="b"/>
<origin xyz="0 0 1"/>
<limit lower="0" upper="1" effort="1" velocity="1"/></joint>
<joint name="j2" type="prismatic"><parent link="b"/><child link="c"/>
<axis xyz="0 1 0"/>
<limit lower="-1" upper="2" effort="1" velocity="1"/></joint>
</robot>
"""
FAULTS = {
    "x.toml": (
        TOML,
        [
            ("cardan = 1\n", "\n"),
            ("M = 1\nZZ", "M = -1\nZZ"),
            ("ZZ = 0.1", "ZW = 0.1"),
            ("d = 0.5", 'd = "1 furlong"'),
            ("antecedent = 1", "antecedent = 7"),
            ('joint = "prismatic"', 'joint = "rotary"'),
            ("lower = -1", "lower = 3"),
            ('"pi/2"', '"pi/"'),
            ('variable = "s"', 'variable = "q1"'),
        ],
    ),
    "x.par": (
        PAR,
        [
            ("ant = {0,1,2}", "ant = {0,7,2}"),
            ("sigma = {0,0,1}", "sigma = {0,5,1}"),
            ("d = {0,1,0}", "d = {0,1,(}"),
            ("pi/2", "pi/"),
            ("\nM = {1,1,1}", "\nM = {1,-1,1}"),
            ("\nFS = {1,1,1}", "\nFS = {1,1,1}\nbogus = 3"),
        ],
    ),
    "x.urdf": (
        URDF,
        [
            ('mass value="1"', 'mass value="-1"'),
            ('xyz="0 0 1"', 'xyz="0 0 one"'),
            ('type="prismatic"', 'type="rotary"'),
            ('lower="0" upper="1"', 'lower="0" upper="one"'),
        ],
    ),
}


def errors(text: str, file: str) -> set[str]:
    _, faults = read_bytes(text.encode(), file)
    found = {str(fault) for fault in faults if fault.severity == "error"}
    assert len(found) == len([fault for fault in faults if fault.severity == "error"])
    return found


def spoilt(text: str, changes: tuple[tuple[str, str], ...]) -> str:
    for old, new in changes:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


@pytest.mark.parametrize("file", FAULTS)
@pytest.mark.parametrize("count", [2, 3, 99])
def test_none_hides_another_and_none_follows_from_another(file: str, count: int) -> None:
    text, changes = FAULTS[file]
    assert not errors(text, file)
    alone = {change: errors(spoilt(text, (change,)), file) for change in changes}
    assert all(len(found) == 1 for found in alone.values()), alone
    for some in combinations(changes, min(count, len(changes))):
        expected = set().union(*(alone[change] for change in some))
        assert errors(spoilt(text, some), file) == expected


def test_faults_stand_in_the_order_of_the_file() -> None:
    text, changes = FAULTS["x.toml"]
    _, faults = read_bytes(spoilt(text, tuple(changes)).encode(), "x.toml")
    lines = [fault.line for fault in faults]
    assert lines == sorted(lines)
    assert 0 not in lines

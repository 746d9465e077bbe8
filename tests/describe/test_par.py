""".par files of SYMORO+ and OpenSYMORO: both dialects, every public example, and the faults."""

from dataclasses import replace
from pathlib import Path

import pytest

from cardan.describe.files import dumps, load
from cardan.describe.par.read import read_par
from cardan.describe.par.write import write_par
from cardan.describe.values.expression import symbol
from cardan.describe.values.parser import parse
from cardan.errors import CardanError, DescriptionError

SHARED = Path(__file__).parents[3] / "shared" / "robots"
FILES = sorted(SHARED.glob("par*/*.par"))

TWO = """(* Robotname = 'two' *)
NL = 2   NJ = 2   NF = 2
Type = 0 (* Simple *)
Ant = {0,1}
Sigma = {0,1}
B = {0,0}  (* a remark beside data *)
d = {0,
     L1*atan2(a,b)}
R = {0,-c + r2}
gamma
  = {0,
  Pi/2}
Alpha = {0,Pi/2} Mu = {1,0}
Theta = {-Pi/2 + q1,0}
"""


def read(text):
    data = text if isinstance(text, bytes) else text.encode()
    return read_par(data, "two.par")


def faults(text):
    return [str(fault) for fault in read(text)[1]]


def test_every_feature_of_the_text():
    robot, found = read(TWO)
    assert not found
    assert robot is not None
    assert robot.name == "two"
    assert robot.variables == ("q1", "r2")
    first, second = robot.joints
    assert (first.theta, first.variable, first.active) == (parse("-pi/2"), "", True)
    assert (second.r, second.variable, second.active) == (parse("-c"), "r2", False)
    assert second.d == parse("L1*atan2(a,b)")
    assert second.gamma == parse("pi/2")
    assert robot.gravity == (0, 0, 0)  # a geometric file has no dynamics


def test_latin_1_names_and_comments():
    robot, found = read(TWO.replace("two", "No\xeb").encode("latin-1"))
    assert not found
    assert robot.name == "No\xeb"
    again, _ = read(write_par(robot, "symoro+").encode("latin-1"))
    assert again == robot


def test_pi_inside_names_and_letters_of_mathematica():
    robot, found = read(TWO.replace("L1*atan2(a,b)", "Pirate*E + I*N*Q*lambda"))
    assert not found
    assert robot.parameters == ("Pirate", "E", "I", "N", "Q", "lambda", "c")


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ("Sigma = {0,1}", "Sigma = {0,4}", 5, "sigma(2) = 4 is not a joint type"),
        ("Mu = {1,0}", "Mu = {1,7}", 13, "mu(2) = 7"),
        ("Ant = {0,1}", "Ant = {0,x}", 4, "ant(2) = x must be a whole number"),
        ("Ant = {0,1}", "Ant = {0,5}", 4, "antecedent 5 does not exist"),
        ("Ant = {0,1}", "Ant = {2,1}", 4, "closes a cycle"),
        ("B = {0,0}", "B = {0}", 6, "b has 1 values; it needs 2"),
        ("B = {0,0}", "B = {0,0,0}", 6, "b has 3 values"),
        ("B = {0,0}", "B = {0,}", 6, "b(2)"),
        ("B = {0,0}", "B = 0", 6, "no list"),
        ("B = {0,0}", "B = {0,0", 6, "not closed"),
        ("B = {0,0}", "Bx = {0,0}", 6, "is not a key"),
        ("B = {0,0}", "B = {0,0} B = {0,0}", 6, "given twice, first on line 6"),
        ("B = {0,0}", "", 14, "b missing"),
        ("B = {0,0}", "XX = {1,2} B = {0,0}", 14, "XY, XZ"),
        ("NF = 2", "NF = 3", 2, "do not fit"),
        ("NF = 2", "", 0, "NF is missing"),
        ("NF = 2", "NF = two", 2, "whole number"),
        ("Type = 0", "Type = 2", 3, "describe a serial robot"),
        ("Type = 0", "is_floating = maybe Type = 0", 3, "True or False"),
        ("L1*atan2(a,b)", "L1**", 8, "d(2): formula 'L1**', column 5"),
        ("(* a remark", "(* (* a remark", 6, "not closed"),
        ("B = {0,0}", "hello B = {0,0}", 6, "put remarks into"),
        ("-Pi/2 + q1", "-q1", 14, "has no joint variable"),
        ("-Pi/2 + q1", "2*q1", 14, "has no joint variable"),
        ("-Pi/2 + q1", "u + v", 14, "rename the variable q1"),
        ("-Pi/2 + q1", "L1", 14, "has no joint variable"),
    ],
)
def test_faults_have_their_line(old, new, line, words):
    text = TWO.replace(old, new)
    assert text != TWO
    found = faults(text)
    where = f"two.par:{line}:" if line else "two.par:"
    assert any(fault.startswith(where) and words in fault for fault in found), found


def test_all_faults_at_once():
    text = TWO.replace("Sigma = {0,1}", "Sigma = {0,9}").replace("B = {0,0}", "B = {0}")
    assert len(faults(text.replace("Mu = {1,0}", "Mu = {1,x}"))) == 3


def test_a_user_name_wins_over_other_symbols():
    robot, found = read(TWO.replace("-Pi/2 + q1", "offset + th1"))
    assert not found
    assert robot.joints[0].variable == "th1"
    assert robot.joints[0].theta == symbol("offset")


@pytest.mark.skipif(not FILES, reason="the public robot files are not here")
@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_public_files_load_and_write_back(path):
    robot = load(path)
    for format in ("par", "symoro+"):
        if format == "symoro+" and robot.base.kind != "fixed":
            with pytest.raises(DescriptionError, match="no floating base"):
                dumps(robot, format)
            continue
        again, found = read(dumps(robot, format))
        assert not found
        assert again == robot


@pytest.mark.skipif(not FILES, reason="the public robot files are not here")
def test_floating_base_and_loops():
    robot = load(SHARED / "par" / "rx90float.par")
    assert robot.base.kind == "floating"
    assert symbol("M0") == robot.base.link.M
    assert robot.base.drive == (symbol("IA0"), symbol("FV0"), symbol("FS0"))
    assert symbol("M1") == robot.links[0].M
    loops = load(SHARED / "par" / "two-loops.par").loops
    assert [(loop.cut.antecedent, loop.twin.antecedent) for loop in loops] == [(7, 8), (6, 11)]


def test_elastic_joints():
    text = TWO + "eta = {1,0}\nk = {k1,0}\nQP = {a1,QP2}\n"
    robot, found = read(text)
    assert not found
    assert robot.joints[0].elastic
    assert robot.joints[0].stiffness == symbol("k1")
    assert robot.joints[0].symbols[0] == symbol("a1")
    assert read(write_par(robot))[0] == robot
    with pytest.raises(DescriptionError, match="no elastic joints"):
        write_par(robot, "symoro+")
    assert "k missing" in faults(text.replace("k = {k1,0}", ""))[0]


def test_what_par_cannot_say_is_refused():
    robot, _ = read(TWO)
    first = replace(robot.joints[0], variable="foo", theta=symbol("bar"))
    with pytest.raises(DescriptionError, match="cannot tell the variable foo"):
        write_par(replace(robot, joints=(first, robot.joints[1])))
    with pytest.raises(DescriptionError, match="rename the robot"):
        write_par(replace(robot, name="a *) b"))
    with pytest.raises(CardanError, match="opensymoro"):
        write_par(robot, "mathematica")

"""The textbook form against textbooks, term by term: sums are multiplied out, and nothing else is
done to either side, so sines, cosines and sums of angles must be those of the book.

| key | book |
|---|---|
| Craig | J. J. Craig, Introduction to Robotics: Mechanics and Control, 3rd edition, 2005 |
| Spong | M. W. Spong, S. Hutchinson and M. Vidyasagar, Robot Modeling and Control, 2006 |
| Khalil | W. Khalil and E. Dombre, Modeling, Identification and Control of Robots, 2002 |
| Åström | K. J. Åström and R. M. Murray, Feedback Systems, 2008 |
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

import cardan
from cardan.describe.robot import Robot
from cardan.program import Program

sympy = pytest.importorskip("sympy")


def planar(*links: dict[str, Any], gravity: str = "g") -> Robot:
    """A robot in the vertical plane x0 y0, with its joints about z0."""
    named = [{"variable": f"q{j}", **link} for j, link in enumerate(links, 1)]
    return cardan.load(
        {"cardan": 1, "name": "planar", "gravity": [0, f"-{gravity}", 0], "link": named}
    )


def point_masses(n: int) -> Robot:
    """Masses m_j at the ends of links of length l_j: Craig, example 6.2 and figure 6.6."""
    links = [
        {"M": f"m{j}", "MX": f"m{j}*l{j}", "ZZ": f"m{j}*l{j}^2", "d": f"l{j - 1}" if j > 1 else 0}
        for j in range(1, n + 1)
    ]
    return planar(*links)


def symbol(name: str) -> Any:
    return sympy.Symbol(name, real=True)


def book(text: str) -> Any:
    """A formula of a book: c1, s12 are cosine and sine of q1, q1 + q2."""

    def angle(digits: str) -> Any:
        return sum(symbol(f"q{k}") for k in digits)

    words = set(re.findall(r"[A-Za-z]\w*", text))
    table: dict[str, Any] = {name: symbol(name) for name in words}
    for name in words:
        if re.fullmatch(r"[cs]\d+", name):
            table[name] = (sympy.cos if name[0] == "c" else sympy.sin)(angle(name[1:]))
    return sympy.expand(sympy.parse_expr(text, local_dict=table))


def in_q(program: Program) -> Any:
    """The outputs in q1, q2 ..., whatever the robot calls its variables."""
    return replace(program, coordinates={}).to_sympy()


def assert_printed(program: Program | None, formulas: dict[str, Sequence[str]]) -> None:
    """Each output of the textbook form is the book's, term by term."""
    assert program is not None
    outputs = in_q(program.textbook)
    for name, texts in formulas.items():
        whole = outputs[name]
        flat = sympy.flatten(whole.tolist()) if hasattr(whole, "tolist") else [whole]
        assert len(flat) == len(texts)
        for k, (value, text) in enumerate(zip(flat, texts, strict=True)):
            assert sympy.expand(value) == book(text), f"{name}[{k}]"


def test_pendulum() -> None:
    """ZZ1 qdd + G (MX1 cos q1 - MY1 sin q1), the page of every book on mechanics."""
    torque = cardan.model(cardan.load("planar1r"), "inverse-dynamics")
    assert_printed(torque, {"tau": ["ZZ1*qdd1 + G*(MX1*c1 - MY1*s1)"]})


def test_two_links_of_craig() -> None:
    """Craig (6.58)."""
    tau1 = (
        "m2*l2**2*(qdd1 + qdd2) + m2*l1*l2*c2*(2*qdd1 + qdd2) + (m1 + m2)*l1**2*qdd1"
        " - m2*l1*l2*s2*qd2**2 - 2*m2*l1*l2*s2*qd1*qd2 + m2*l2*g*c12 + (m1 + m2)*l1*g*c1"
    )
    tau2 = "m2*l1*l2*c2*qdd1 + m2*l1*l2*s2*qd1**2 + m2*l2*g*c12 + m2*l2**2*(qdd1 + qdd2)"
    robot = point_masses(2)
    for options in ({}, {"method": "lagrange"}):
        torque = cardan.model(robot, "inverse-dynamics", **options)  # type: ignore[call-overload]
        assert_printed(torque, {"tau": [tau1, tau2]})


def test_two_links_of_spong() -> None:
    """Spong, section 7.4, planar elbow manipulator: (7.87)-(7.90), with h = -m2 l1 lc2 sin q2."""
    robot = planar(
        {"M": "m1", "MX": "m1*lc1", "ZZ": "I1 + m1*lc1^2"},
        {"M": "m2", "MX": "m2*lc2", "ZZ": "I2 + m2*lc2^2", "d": "l1"},
    )
    d12, h = "m2*(lc2**2 + l1*lc2*c2) + I2", "(-m2*l1*lc2*s2)"
    D = [
        "m1*lc1**2 + m2*(l1**2 + lc2**2 + 2*l1*lc2*c2) + I1 + I2", d12, d12, "m2*lc2**2 + I2"
    ]  # fmt: skip
    C = [f"{h}*qd2", f"{h}*qd2 + {h}*qd1", f"-{h}*qd1", "0"]
    g2 = "m2*lc2*g*c12"
    Q = [f"(m1*lc1 + m2*l1)*g*c1 + {g2}", g2]
    assert_printed(cardan.model(robot, "inertia-matrix"), {"A": D})
    assert_printed(cardan.model(robot, "coriolis-matrix"), {"C": C})
    assert_printed(cardan.model(robot, "gravity"), {"Q": Q})
    torques = cardan.model(robot, "inverse-dynamics")
    assert_printed(torques.matrices, {"A": D, "C": C, "Q": Q})
    E = "((I1 + m1*lc1**2)*qd1**2 + m2*l1**2*qd1**2 + (I2 + m2*lc2**2)*(qd1 + qd2)**2)/2"
    E += " + m2*l1*lc2*c2*qd1*(qd1 + qd2)"
    assert_printed(cardan.model(robot, "energies"), {"E": [E]})


def test_bundled_two_links() -> None:
    """Khalil's parameters: Khalil, chapter 9, the two-link robot of its exercises."""
    lagrange = cardan.model(cardan.load("planar2r"), "lagrange")
    b = "L1*(MX2*s2 + MY2*c2)"
    A12 = "ZZ2 + L1*(MX2*c2 - MY2*s2)"
    A11 = "ZZ1 + ZZ2 + M2*L1**2 + 2*L1*(MX2*c2 - MY2*s2)"
    Q2 = "G*(MX2*c12 - MY2*s12)"
    expected = {
        "A": [A11, A12, A12, "ZZ2"],
        "B": ["0", f"-{b}", f"-{b}", f"-{b}", b, "0", "0", "0"],
        "Q": [f"G*((MX1 + M2*L1)*c1 - MY1*s1) + {Q2}", Q2],
    }
    assert_printed(lagrange, expected)


def test_three_links() -> None:
    """Three point masses: the pattern of Craig (6.58) once more; Jacobian of Craig (5.66)."""
    A33, A23 = "m3*l3**2", "m3*l3**2 + m3*l2*l3*c3"
    A13 = f"{A23} + m3*l1*l3*c23"
    A22 = "(m2 + m3)*l2**2 + m3*l3**2 + 2*m3*l2*l3*c3"
    A12 = f"{A22} + (m2 + m3)*l1*l2*c2 + m3*l1*l3*c23"
    A11 = f"(m1 + m2 + m3)*l1**2 + {A22} + 2*(m2 + m3)*l1*l2*c2 + 2*m3*l1*l3*c23"
    Q3 = "m3*l3*g*c123"
    Q2 = f"(m2 + m3)*l2*g*c12 + {Q3}"
    Q1 = f"(m1 + m2 + m3)*l1*g*c1 + {Q2}"
    robot = point_masses(3)
    matrix = [A11, A12, A13, A12, A22, A23, A13, A23, A33]
    assert_printed(cardan.model(robot, "inertia-matrix"), {"A": matrix})
    assert_printed(cardan.model(robot, "gravity"), {"Q": [Q1, Q2, Q3]})
    zero = ["0"] * 9
    rows = ["-L1*s1 - L2*s12", "-L2*s12", "0", "L1*c1 + L2*c12", "L2*c12", "0", *zero]
    bundled = cardan.load("planar3r")
    assert_printed(cardan.model(bundled, "jacobian"), {"J": [*rows, "1", "1", "1"]})
    turned = ["c123", "-s123", "0", "L1*c1 + L2*c12", "s123", "c123", "0", "L1*s1 + L2*s12"]
    pose = [*turned, "0", "0", "1", "0", "0", "0", "0", "1"]
    assert_printed(cardan.model(bundled, "transform"), {"T": pose})


def test_scara() -> None:
    """Transform and Jacobian as Spong, section 3.2.3 (example 3.6) and example 4.8, in Khalil's
    frames, where z points upwards; inertias by Khalil's table of base parameters: the load of links
    3 and 4 counts together."""
    robot = cardan.load("scara")
    turned = ["c123", "-s123", "0", "D2*c1 + D3*c12", "s123", "c123", "0", "D2*s1 + D3*s12"]
    pose = [*turned, "0", "0", "1", "q4", "0", "0", "0", "1"]
    assert_printed(cardan.model(robot, "transform"), {"T": pose})
    x = ["-D2*s1 - D3*s12", "-D3*s12", "0", "0"]
    y = ["D2*c1 + D3*c12", "D3*c12", "0", "0"]
    rows = [*x, *y, "0", "0", "0", "1", *["0"] * 8, "1", "1", "1", "0"]
    assert_printed(cardan.model(robot, "jacobian"), {"J": rows})
    MX, MY, M = "(MX3 + MX4)", "(MY3 + MY4)", "(M3 + M4)"
    near, far = f"({MX}*c3 - {MY}*s3)", f"({MX}*c23 - {MY}*s23)"
    own = f"(MX2 + D3*{M})*c2 - MY2*s2"
    A33 = "ZZ3 + ZZ4"
    A23 = f"{A33} + D3*{near}"
    A13 = f"{A23} + D2*{far}"
    A22 = f"ZZ2 + {A33} + D3**2*{M} + 2*D3*{near}"
    A12 = f"{A22} + D2*({own} + {far})"
    A11 = f"ZZ1 + IA1 + D2**2*(M2 + {M}) + {A22} + 2*D2*({own} + {far})"
    matrix = [
        A11, A12, A13, "0", A12, f"IA2 + {A22}", A23, "0", A13, A23, f"IA3 + {A33}", "0",
        "0", "0", "0", "M4 + IA4",
    ]  # fmt: skip
    assert_printed(cardan.model(robot, "inertia-matrix"), {"A": matrix})
    assert_printed(cardan.model(robot, "gravity"), {"Q": ["0", "0", "0", "-M4*G3"]})


def test_cart_pole() -> None:
    """Åström (3.9), the balance system: q1 is p, q2 is theta; bundled numbers by symbols."""
    robot = cardan.load(
        {
            "cardan": 1, "name": "balance system", "gravity": [0, "-g", 0],
            "link": [
                {"joint": "prismatic", "gamma": "pi/2", "alpha": "pi/2", "M": "M"},
                {"alpha": "-pi/2", "M": "m", "MX": "m*l", "ZZ": "J + m*l^2"},
            ],
        }
    )  # fmt: skip
    first = "(M + m)*qdd1 - m*l*c2*qdd2 + m*l*s2*qd2**2"
    second = "-m*l*c2*qdd1 + (J + m*l**2)*qdd2 - m*g*l*s2"
    assert_printed(cardan.model(robot, "inverse-dynamics"), {"tau": [first, second]})
    numbers = in_q(cardan.model(cardan.load("cartpole"), "inverse-dynamics").textbook)["tau"]
    values = {"M": "1", "m": "1/10", "l": "1/2", "J": "1/120", "g": "49/5"}
    for value, text in zip(numbers, (first, second), strict=True):
        exact = book(text).subs({symbol(k): sympy.Rational(v) for k, v in values.items()})
        assert sympy.expand(value) == sympy.expand(exact)


def test_revolute_prismatic() -> None:
    """The RP manipulator of Craig, example 6.5, (6.84) to (6.88): d2 is q2."""
    robot = cardan.load(
        {
            "cardan": 1, "name": "RP", "gravity": [0, "-g", 0],
            "link": [
                {"theta": "pi/2", "variable": "q1",
                 "M": "m1", "MY": "-m1*l1", "ZZ": "Izz1 + m1*l1^2"},
                {"joint": "prismatic", "alpha": "pi/2", "variable": "q2", "M": "m2", "YY": "Iyy2"},
            ],
        }
    )  # fmt: skip
    tau1 = "(m1*l1**2 + Izz1 + Iyy2 + m2*q2**2)*qdd1 + 2*m2*q2*qd1*qd2 + (m1*l1 + m2*q2)*g*c1"
    tau2 = "m2*qdd2 - m2*q2*qd1**2 + m2*g*s1"
    assert_printed(cardan.model(robot, "inverse-dynamics"), {"tau": [tau1, tau2]})


def test_one_slide_between_two_turns() -> None:
    """The RPR arm of Craig, examples 3.4 and 3.5: its transforms link by link, and their product;
    d2 is q2."""
    robot = cardan.load("rpr")
    last = ["0", "0", "0", "1"]
    links = [
        ["c1", "-s1", "0", "0", "s1", "c1", "0", "0", "0", "0", "1", "0", *last],
        ["1", "0", "0", "0", "0", "0", "-1", "-q2", "0", "1", "0", "0", *last],
        ["c3", "-s3", "0", "0", "s3", "c3", "0", "0", "0", "0", "1", "L2", *last],
    ]
    for j, entries in enumerate(links, 1):
        own = cardan.model(robot, "transform", frame=j, reference=j - 1)
        assert_printed(own, {"T": entries})
    first = ["c1*c3", "-c1*s3", "s1", "s1*(q2 + L2)", "s1*c3", "-s1*s3", "-c1", "-c1*(q2 + L2)"]
    pose = [*first, "s3", "c3", "0", "0", *last]
    assert_printed(cardan.model(robot, "transform"), {"T": pose})
    rows = ["c1*(q2 + L2)", "s1", "0", "s1*(q2 + L2)", "-c1", "0", "0", "0", "0"]
    rows += ["0", "0", "s1", "0", "0", "-c1", "1", "0", "0"]
    assert_printed(cardan.model(robot, "jacobian"), {"J": rows})


def test_lagrange_s_equations_of_the_same_arm() -> None:
    """Craig (6.69) to (6.77), by SymPy: kinetic energies of the links by the transforms above,
    inertias about the origins of their frames, potential energies, tau = d/dt dk/dqd - dk/dq
    + du/dq."""
    program = cardan.model(cardan.load("rpr"), "inverse-dynamics", friction=False)
    t = sympy.Symbol("t")
    moving = [sympy.Function(f"q{j}")(t) for j in (1, 2, 3)]
    turn = [_turn(moving[0]), sympy.Matrix([[1, 0, 0], [0, 0, -1], [0, 1, 0]]), _turn(moving[2])]
    shift = [(0, 0, 0), (0, -moving[1], 0), (0, 0, symbol("L2"))]
    R, P, kinetic, potential = sympy.eye(3), sympy.zeros(3, 1), 0, 0
    for j in (1, 2, 3):
        P, R = P + R * sympy.Matrix(shift[j - 1]), R * turn[j - 1]
        spin = (R.T * R.diff(t)).applyfunc(sympy.expand)
        w = sympy.Matrix([spin[2, 1], spin[0, 2], spin[1, 0]])
        v = R.T * P.diff(t)
        J = sympy.Matrix(
            3, 3, lambda a, b, j=j: symbol("XYZ"[min(a, b)] + "XYZ"[max(a, b)] + f"{j}")
        )
        MS = sympy.Matrix([symbol(f"M{axis}{j}") for axis in "XYZ"])
        M, rotor = symbol(f"M{j}"), symbol(f"IA{j}") * moving[j - 1].diff(t) ** 2
        kinetic += ((M * v.T * v + w.T * J * w)[0] + 2 * MS.dot(v.cross(w)) + rotor) / 2
        potential -= symbol("G3") * (M * P + R * MS)[2]
    found = in_q(program.textbook)["tau"]
    for j, x in enumerate(moving):
        rate = kinetic.diff(x.diff(t)).diff(t) - (kinetic - potential).diff(x)
        named = zip(
            (y.diff(t, k) if k else y for y in moving for k in (2, 1, 0)), 
            (symbol(f"q{'d' * k}{i}") for i in (1, 2, 3) for k in (2, 1, 0)), strict=True,
        )  # fmt: skip
        rate = rate.subs(list(named))
        gap = (rate - found[j]).rewrite(sympy.exp)
        assert sympy.expand(gap) == 0, f"tau{j + 1}"


def _turn(angle: Any) -> Any:
    """Rot(z, angle)."""
    c, s = sympy.cos(angle), sympy.sin(angle)
    return sympy.Matrix([[c, -s, 0], [s, c, 0], [0, 0, 1]])


def first_three(name: str) -> Robot:
    """The first three links of a bundled robot."""
    robot = cardan.load(name)
    return replace(robot, links=robot.links[:3], joints=robot.joints[:3])


def test_first_three_joints() -> None:
    """Khalil, example 9.1: the first three links of the Stäubli RX-90. The PUMA has r3 besides."""
    A11 = (
        "IA1 + ZZ1 + s2**2*XX2 + 2*c2*s2*XY2 + c2**2*YY2 + s23**2*XX3 + 2*c23*s23*XY3 + c23**2*YY3"
        " + 2*c2*c23*D3*MX3 - 2*c2*s23*D3*MY3 + c2**2*D3**2*M3"
    )
    A12 = "s2*XZ2 + c2*YZ2 + s23*XZ3 + c23*YZ3 - s2*D3*MZ3"
    A13, A23 = "s23*XZ3 + c23*YZ3", "ZZ3 + c3*D3*MX3 - s3*D3*MY3"
    A22 = "IA2 + ZZ2 + ZZ3 + 2*c3*D3*MX3 - 2*s3*D3*MY3 + D3**2*M3"
    matrix = [A11, A12, A13, A12, A22, A23, A13, A23, "IA3 + ZZ3"]
    Q3 = "-G3*(c23*MX3 - s23*MY3)"
    Q2 = f"-G3*(c2*MX2 - s2*MY2 + c2*D3*M3) + {Q3}"
    robot = first_three("rx90")
    assert_printed(cardan.model(robot, "inertia-matrix"), {"A": matrix})
    assert_printed(cardan.model(robot, "gravity"), {"Q": ["0", Q2, Q3]})
    puma = [text.replace("D3", "d3") for text in matrix]
    puma[0] += " + r3**2*M3 + 2*r3*MZ3"
    for k in (1, 3):
        puma[k] += " - r3*(s23*MX3 + c23*MY3 + s2*d3*M3)"
    for k in (2, 6):
        puma[k] += " - r3*(s23*MX3 + c23*MY3)"
    assert_printed(cardan.model(first_three("puma560"), "inertia-matrix"), {"A": puma})


def test_puma_transform() -> None:
    """Craig (3.14), its d3 being -r3 here, its a2, a3, d4 being d3, d4, r4."""
    T = cardan.model(cardan.load("puma560"), "transform")
    r11 = "c1*(c23*(c4*c5*c6 - s4*s6) - s23*s5*c6) + (-1)*s1*(s4*c5*c6 + c4*s6)"
    outputs = in_q(T.textbook)["T"]
    assert sympy.expand(outputs[0, 0]) == book(r11)
    assert sympy.expand(outputs[2, 2]) == book("c23*c5 - s23*c4*s5")
    assert sympy.expand(outputs[0, 3]) == book("c1*(d3*c2 + d4*c23 - r4*s23) + r3*s1")


@pytest.mark.parametrize("name", ["planar1r", "planar2r", "planar3r", "scara", "cartpole"])
def test_text_has_no_half_guard_or_anonymous_value(name: str) -> None:
    robot = cardan.load(name)
    for model in ("lagrange", "inertia-matrix", "gravity", "energies", "inverse-dynamics"):
        program = cardan.model(robot, model)
        for language in ("text", "latex"):
            text = program.emit(language, form="textbook")
            assert not re.search(r"0\.5\s*[*\\]|\bif\(|cases|\bt_?\{?\d+|max\(|abs\(", text)


@pytest.mark.parametrize(
    ("name", "model"),
    [("planar1r", "inverse-dynamics"), ("planar2r", "inertia-matrix"), ("planar2r", "gravity"),
     ("cartpole", "inverse-dynamics"), ("rpr", "gravity")],
)  # fmt: skip
def test_no_longer_than_what_sympy_simplifies(name: str, model: str) -> None:
    """Symbols and operations, `python -m bench.textbook`, which has the larger models."""
    from bench.textbook import length, sympy_length, sympy_values

    program = cardan.model(cardan.load(name), model)
    simplified = sum(sympy_length(sympy.simplify(x)) for x in sympy_values(program))
    assert length(program.textbook.code) <= simplified


def test_equation_of_motion_with_its_matrices() -> None:
    """[B23] 3.4.2, eq. 3.26, as one display; Spong's matrices are compared above."""
    torques = cardan.model(cardan.load("planar2r"), "inverse-dynamics")
    text = torques.equations()
    assert "tau = A*qdd + C*qd + Q + F" in text
    assert "A = [L1^2*M2 + ZZ1 + ZZ2 + 2*L1*(MX2*C2 - MY2*S2), " in text
    assert "F = [FV1*qd1, FV2*qd2]" in text
    latex = torques.equations("textbook", to="latex")
    assert r"\tau &= A\,\ddot{q} + C\,\dot{q} + Q + F \\" in latex
    assert latex.rpartition(r"\begin{align*}")[2].count(r"\begin{bmatrix}") == 4
    assert "Equation of motion" not in torques.equations("plain")
    lever = cardan.model(cardan.load("planar1r"), "inverse-dynamics")
    assert "Equation of motion" not in lever.equations()

"""No name of a robot, a link, a joint or a symbol does anything in generated text.

The names below are what Python, C, Fortran, Octave, Rust and others would act upon if they stood
outside a comment, or said how the file is to be read (PEP 263: `coding:` in the first two lines).
Every text of Python is run as the bytes it is, in a child process; those of other languages are
compiled where a compiler is present, and all are searched for marks that leave a comment."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

import pytest
from tests.backends.runners import checked_run, tool
from tests.package.building import robot_called

import cardan
from cardan.describe.robot import Robot
from cardan.emit import languages
from cardan.emit.header import CODING, harmless, one_line, quoted
from cardan.errors import CardanError
from cardan.inverse.numeric.code import numeric_code
from cardan.motion.animate import animation
from cardan.package import KINDS, write_package
from cardan.program import Program

DOCUMENTS = ("text", "latex", "markdown", "html")
PAYLOAD = 'open("owned","w")#'
COOKIES = [
    "coding:unicode_escape", "coding=unicode_escape", "coding: raw_unicode_escape",
    "-*- coding: unicode-escape -*-", "vim: set fileencoding=unicode_escape :",
    "encoding:UNICODE_ESCAPE", "xcoding:\tunicode_escape",
]  # fmt: skip
NAMES = [
    *(f"{cookie} \\u000a{PAYLOAD}" for cookie in COOKIES),
    f"coding:unicode_escape \\x0a{PAYLOAD}", f"coding:unicode_escape \\n{PAYLOAD}",
    f"coding:unicode_escape \\012{PAYLOAD}", f"coding:unicode_escape \\N{{LINE FEED}}{PAYLOAD}",
    f"coding:utf-7 +AAo-{PAYLOAD}", f"coding=utf_7 +AA0-{PAYLOAD}", f"coding:U7 +AAo-{PAYLOAD}",
    "coding: nosuchcodec", "coding:latin-1 \xe9", "coding:utf-16", "coding:rot13",
    f"a\u2028{PAYLOAD}", f"a\u2029{PAYLOAD}", f"a\x85{PAYLOAD}", f"a\n{PAYLOAD}", f"a\r{PAYLOAD}",
    f"a\x0c{PAYLOAD}", f"a\u202e{PAYLOAD}\u2066", "a\x00b", "\ufeffarm", "a\ud800b",
    f'"""\n{PAYLOAD}', f'"""+{PAYLOAD[:-1]}+"""', "'''", '"', "'", '\\"', "\\", "a\\\\", "*\\",
    "*/ int owned(void); /*", "*??/", "??/", "a ??/", "*/*/ owned", "/*", "// owned",
    "*) owned (*", "=# owned #=", "#= owned", "%{", "%}", "%{\nowned", "!$omp parallel", "&",
    "a &", "#[[", "]]", "#define owned", "#include <owned>", "--> <owned/> <!--", "]]> <owned/>",
    "</script><script>owned()</script>", "<!--<script>", "@DATA@", "@NAME@", "${owned}", "$(owned)",
    "`owned`", "{owned}", "{{owned}}", "%s%n", "\\input{owned}", "^^M owned", "$owned$", "...",
    "St\xe4ubli RX\u202f90", "\u673a\u5668\u4eba", "\u0440\u0443\u043a\u0430", "x" * 200, "?" * 150,
    "a\u0300" * 90,
]  # fmt: skip
SMALL = [
    NAMES[0], "*/ int owned(void); /*", "a ??/", "a\\", "*??/", "*\\", "=# owned #=", "%{", "a &",
    "!$omp parallel", "a\u202eb", "\u673a\u5668\u4eba", "?" * 150, "x" * 200,
]  # fmt: skip
PRINTABLE = [name for name in NAMES if name.isprintable()]  # others no robot may bear


def toml_text(name: str) -> str:
    return f"""cardan = 1
name = {json.dumps(name)}
gravity = [0, 0, "9.81"]
[[link]]
name = {json.dumps(f"l {name}"[:200])}
joint_name = {json.dumps(f"j {name}"[:200])}
M = 1
ZZ = 1
"""


def par_text(name: str) -> str:
    columns = "\n".join(f"{key} = {{0}}" for key in (
        "Sigma", "B", "d", "gamma", "alpha", "R", "XX", "XY", "XZ", "YY", "YZ", "MX", "MY", "MZ",
        "IA", "FV", "FS", "FX", "FY", "FZ", "CX", "CY", "CZ",
    ))  # fmt: skip
    return f"""(* Robotname = '{name}' *)
NL = 1
NJ = 1
NF = 1
Type = 0
Ant = {{0}}
Mu = {{1}}
Theta = {{t1}}
{columns}
ZZ = {{1}}
M = {{1}}
G = {{0,0,981/100}}
"""


def urdf_text(name: str) -> str:
    base, link, joint = (quoteattr(f"{x} {name}"[:200]) for x in "blj")
    inertia = '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>'
    return (
        f"<robot name={quoteattr(name)}><link name={base}/><link name={link}><inertial>"
        f'<mass value="1"/>{inertia}</inertial></link><joint name={joint} type="continuous">'
        f'<parent link={base}/><child link={link}/><axis xyz="0 0 1"/></joint></robot>'
    )


def mjcf_text(name: str) -> str:
    link, joint = (quoteattr(f"{x} {name}"[:200]) for x in "lj")
    return (
        f"<mujoco model={quoteattr(name)}><worldbody><body name={link}>"
        f'<joint name={joint} type="hinge" axis="0 0 1"/>'
        '<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/></body></worldbody></mujoco>'
    )


FILES = {"toml": toml_text, "par": par_text, "urdf": urdf_text, "xml": mjcf_text}


def robots_called(name: str, folder: Path) -> Iterator[tuple[str, Robot]]:
    """The robot of this name from every format that can say it, and from a dict. The name itself
    may be refused (it must be printable), and some formats cannot write it."""
    for ending, text in FILES.items():
        path = folder / f"robot.{ending}"
        try:
            path.write_bytes(text(name).encode())
            yield ending, cardan.load(path)
        except (CardanError, UnicodeEncodeError):
            continue
    link = {"name": f"l {name}"[:200], "joint_name": f"j {name}"[:200], "M": 1, "ZZ": 1}
    with suppress(CardanError):
        yield "dict", cardan.load({"cardan": 1, "name": name, "link": [link]})


def python_texts(program: Program) -> Iterator[tuple[str, str]]:
    """(what it is, text) of a program in Python and its relatives."""
    for language in ("python", "jax", "torch"):
        yield f"{program.model} {language}", program.emit(language)
        yield f"{program.model} {language} split", program.emit(language, split=True)


@cache
def solvers(name: str) -> tuple[Any, Any, Any]:
    arm = robot_called(name)
    links = [replace(link, name=f"{link.name} {name}"[:200]) for link in arm.links]
    arm = replace(arm, links=tuple(links))
    loops = cardan.model(replace(fivebar(), name=name), "loop-geometry")
    return cardan.model(arm, "inverse-geometry"), arm, loops


def solver_texts(name: str, language: str) -> Iterator[tuple[str, str]]:
    """Texts that are no programs: loops, numerical inverse kinematics."""
    _, arm, loops = solvers(name)
    yield "numeric", numeric_code(arm, language, function="solved")
    yield "loops", loops.emit(language, function="solved")


def fivebar() -> Robot:
    robot = cardan.load("fivebar")
    return robot.with_values(dict.fromkeys(robot.parameters, 1))


# every file as bytes, as `python file` and `import` read it; NumPy is imported once
CHILD = """
import json, os, sys, traceback, types
import numpy
class Stub(types.ModuleType):
    def __getattr__(self, name):
        return lambda *args, **options: None
for name in ("torch", "jax", "jax.numpy"):
    sys.modules[name] = Stub(name)
faults = []
for path in json.load(sys.stdin):
    data = open(path, "rb").read()
    if data.split(b"\\n")[0] != b"# -*- coding: utf-8 -*-":
        faults.append([path, "no coding on line 1"])
    names = {"__name__": "module", "__package__": "module"}
    sys.modules["module"] = types.ModuleType("module")
    for part in ("_inverse_dynamics", "_transform"):
        sys.modules["module." + part] = Stub("module." + part)
    sys.modules["arm"] = Stub("arm")
    try:
        exec(compile(data, path, "exec"), names)
    except BaseException:
        faults.append([path, traceback.format_exc()[-500:]])
    if os.path.exists("owned"):
        faults.append([path, "ran the name"])
        os.remove("owned")
print(json.dumps(faults))
"""


def faults_of(texts: dict[str, str], folder: Path) -> list[Any]:
    """What happens when the texts are run as files, in a child process."""
    keys = {}
    for k, (key, text) in enumerate(texts.items()):
        path = folder / f"text{k}.py"
        path.write_bytes(text.encode("utf-8"))
        keys[str(path)] = key
    done = subprocess.run(
        [sys.executable, "-c", CHILD],
        input=json.dumps(list(keys)), capture_output=True, text=True, cwd=folder, check=True,
    )  # fmt: skip
    return [(keys[path], fault) for path, fault in json.loads(done.stdout)]


def test_the_payload_runs_where_nothing_is_done(tmp_path: Path) -> None:
    """The test below can fail: a head without the first line and with the name as it is."""
    ran = {
        name: f"# of {name}\nimport numpy\n"
        for name in NAMES
        if re.search("escape|utf.?7|U7", name)
    }
    found = faults_of(ran, tmp_path)
    assert sum(fault == "ran the name" for _, fault in found) >= 9


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_python_of_every_format(tmp_path: Path) -> None:
    texts: dict[str, str] = {}
    arrived: dict[str, set[str]] = {}
    for name in NAMES:
        programs = {"program": hostile_program(name)}
        for source, robot in robots_called(name, tmp_path):
            arrived.setdefault(robot.name, set()).add(source)
            for model, options in (("inverse-dynamics", {"effort": "plain"}), ("transform", {})):
                programs[f"{source} {model}"] = cardan.model(robot, model, **options)
        for source, program in programs.items():
            for key, text in python_texts(program):
                texts[f"{source} {key} of {name!r}"] = text
    assert arrived[NAMES[0]] == {*FILES, "dict"}
    assert set(arrived) >= set(PRINTABLE)
    assert faults_of(texts, tmp_path) == []


PACKAGED = [NAMES[0], NAMES[2], f"coding:utf-7 +AAo-{PAYLOAD}", "coding: nosuchcodec",
            f'"""+{PAYLOAD[:-1]}+"""', "\\", "\u673a\u5668\u4eba", "x" * 200]  # fmt: skip


def test_python_of_solvers(tmp_path: Path) -> None:
    """The whole text is run of a few names; of the others the code is that of the first."""
    texts: dict[str, str] = {}
    code: dict[str, list[str]] = {}
    coded = [name for name in NAMES if "coding" in name and name.isprintable()]
    for name in dict.fromkeys([*PACKAGED, *coded, *filter(str.isprintable, SMALL)]):
        written = dict(solver_texts(name, "python"))
        if name in PACKAGED:
            written["closed form"] = solvers(name)[0].emit("python", function="solved")
            texts |= {f"{key} of {name!r}": text for key, text in written.items()}
        for key, text in written.items():
            lines = text.split("\n")
            assert lines[0] == CODING
            lines = [line for line in lines if not line.lstrip().startswith("#")]
            assert lines == code.setdefault(key, lines), (key, name)
    assert faults_of(texts, tmp_path) == []


def test_files_of_python_packages(tmp_path: Path) -> None:
    texts = {}
    for k, name in enumerate(PACKAGED):
        folder = tmp_path / f"package{k}"
        models: list[Any] = ["inverse-dynamics", "transform"]
        write_package(robot_called(name), models, "python", folder, name="arm")
        files = list(folder.rglob("*.py"))
        assert len(files) == 4
        texts |= {f"{file.name} of {name!r}": file.read_text("utf-8") for file in files}
    assert faults_of(texts, tmp_path) == []


def test_no_other_package_holds_python(tmp_path: Path) -> None:
    for kind in KINDS:
        model = "direct-dynamics" if kind == "fmu" else "inverse-dynamics"
        found = write_package(robot_called("arm"), [model], kind, tmp_path / kind, effort="plain")
        assert kind == "python" or not [name for name in found.files if name.endswith(".py")]


# language -> marks that would leave the comment of its head, and how its lines begin
COMMENTS = {
    "python": ("#", ""), "jax": ("#", ""), "torch": ("#", ""), "maple": ("#", r"\\$"),
    "julia": ("#", "#=|=#"), "rust": ("//", ""), "fortran": ("!", ""),
    "matlab": ("%", r"^\s*%[{}]"), "latex": ("%", ""),
    "c": (" *", r"\*/|/\*|\?\?|\\"), "cpp": (" *", r"\*/|/\*|\?\?|\\"),
    "cuda": (" *", r"\*/|/\*|\?\?|\\"), "mathematica": (" *", r"\(\*|\*\)|\\"),
}  # fmt: skip


@cache
def small_program(model: str) -> Program:
    return cardan.model(cardan.load("planar2r"), model, effort="plain")


def hostile_program(
    name: str, *, symbols: bool = True, model: str = "inverse-dynamics"
) -> Program:  # fmt: skip
    """A program with this name in all that its head tells: meanings, remarks, symbols."""
    program = small_program(model)
    meaning = {key: f"{words} ({name})" for key, words in program.meaning.items()}
    names = (*program.parameters[:-2], name, f"{name}2") if symbols else program.parameters
    return replace(program, robot=name, parameters=names, meaning=meaning, remarks=(f"of {name}",))


@pytest.mark.parametrize("language", languages())
def test_names_stay_in_their_comments(language: str) -> None:
    """Nothing in a head can end it, and the code below is the same whatever the names are."""
    document = language in DOCUMENTS
    options = {} if document else {"function": "f"}
    model = "gravity" if document else "inverse-dynamics"  # equations are not what is looked at
    plain = hostile_program("arm", symbols=False, model=model).emit(language, **options)
    for name in NAMES:
        for symbols in (True, False):
            program = hostile_program(name, symbols=symbols, model=model)
            text = program.emit(language, **options)
            assert all(c.isprintable() or c == "\n" for c in text), name
            if language not in COMMENTS:
                continue
            prefix, marks = COMMENTS[language]
            for line in _head(text, prefix):
                inside = line.removeprefix(prefix)
                assert not (marks and re.search(marks, inside)), (name, line)
                assert not re.search(r"coding[:=]", inside) or line == CODING, (name, line)
            if not symbols and language != "latex":  # it shows the meanings once more
                assert _code(text, prefix) == _code(plain, prefix), name


def _head(text: str, prefix: str) -> list[str]:
    lines = text.split("\n")
    if prefix == " *":
        assert lines[0] in ("/*", "(*")
        end = next(k for k, line in enumerate(lines) if line in (" */", " *)"))
        lines = lines[1:end]
    else:
        end = next(k for k, line in enumerate(lines) if not line.startswith(prefix))
        lines = lines[:end]
    assert lines
    assert all(line.startswith(prefix) for line in lines)
    return lines


def _code(text: str, prefix: str) -> list[str]:
    lines = text.split("\n")
    return lines[len(_head(text, prefix)) + 2 * (prefix == " *") :]


@pytest.mark.parametrize("language", ["c", "cpp", "matlab"])
def test_heads_of_solvers(language: str) -> None:
    prefix = "%" if language == "matlab" else "//"
    for name in SMALL:
        for key, text in solver_texts(name, language) if name.isprintable() else ():
            lines = text.split("\n")
            assert lines[0].startswith(prefix), (key, name)
            comments = [line for line in lines if line.startswith(prefix)]
            assert not [x for x in comments if re.search(r"\\|\?\?|%[{}]", x)], (key, name)
            assert "owned" not in "\n".join(x for x in lines if x not in comments), (key, name)


@pytest.mark.parametrize("language", ["c", "cpp", "fortran", "rust"])
def test_compilers_take_every_head(language: str, tmp_path: Path) -> None:
    """Every warning is an error, trigraphs are on; all names in one call of the compiler."""
    ending = {"c": "c", "cpp": "hpp", "fortran": "f90", "rust": "rs"}[language]
    paths = []
    for k, name in enumerate(SMALL):
        path = tmp_path / f"name{k}.{ending}"
        text = hostile_program(name).emit(language, function=f"f{k}")
        path.write_bytes(text.encode("utf-8"))
        paths.append(path)
    strict = ["-Wall", "-Wextra", "-Werror", "-trigraphs", "-fsyntax-only"]
    if language == "c":
        checked_run([tool("gcc"), "-std=c99", *strict, *paths])
    elif language == "cpp":
        includes = [f'#include "{path.name}"' for path in paths]
        main = tmp_path / "all.cpp"
        main.write_text("\n".join([*includes, "int main() { return 0; }", ""]))
        checked_run([tool("g++"), "-std=c++17", *strict, main])
    elif language == "fortran":
        checked_run([tool("gfortran"), "-cpp", "-std=f2008", "-Wall", "-Werror", "-fsyntax-only",
                     *paths], cwd=tmp_path)  # fmt: skip
    else:
        lines = ["#![deny(warnings)]", *(f"pub mod {path.stem};" for path in paths)]
        main = tmp_path / "all.rs"
        main.write_text("\n".join([*lines, ""]))
        options = ["--edition", "2021", "--crate-type", "lib", "--emit", "metadata"]
        checked_run([tool("rustc"), *options, main], cwd=tmp_path)


def test_octave_takes_every_head(tmp_path: Path) -> None:
    calls = []
    for k, name in enumerate(SMALL):
        text = hostile_program(name).emit("matlab", function=f"f{k}")
        (tmp_path / f"f{k}.m").write_bytes(text.encode("utf-8"))
        calls.append(f"f{k}([1 2], [1 2], [1 2], 1:{len(hostile_program('a').parameters)});")
    (tmp_path / "main.m").write_text("\n".join([*calls, ""]))
    checked_run([tool("octave-cli"), "--norc", "--quiet", "main.m"], cwd=tmp_path)


def test_a_name_is_no_part_of_a_page() -> None:
    for name in ("@DATA@", "</script><script>owned()</script>", "<!--<script>", "</title><b>"):
        robot = robot_called(name)
        robot = replace(
            robot, links=tuple(replace(x, name=f"{x.name} {name}") for x in robot.links)
        )
        text = animation(robot, [0.0, 1.0], [[0, 0], [1, 1]])
        plain = animation(robot_called("arm"), [0.0, 1.0], [[0, 0], [1, 1]])
        assert text.count("<") == plain.count("<")
        assert text.count('"frames"') == 1


def test_reduced_names() -> None:
    assert quoted("Universal Robots UR5") == "'Universal Robots UR5'"
    assert quoted("St\xe4ubli RX-90 (2)") == "'St\xe4ubli RX-90 (2)'"
    assert harmless("a\"b'c\\d*/e:f=g") == "a_b_c_d__e_f_g"
    assert len(harmless("x" * 500)) == 83
    assert one_line("a\nb\\") == "a b/"
    for name in NAMES:
        assert one_line(one_line(name)) == one_line(name)
        assert harmless(name).isprintable()
        assert set(harmless(name)).isdisjoint("\\\"'*/:=#%{}[]<>&$`@!?\n")

"""The words of the command line: one meaning each, old spellings, examples, help, completion."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer
from typer.testing import CliRunner, Result

import cardan
from cardan.app.cli import completion
from cardan.app.cli.command import EXAMPLES, OLD, current
from cardan.app.cli.main import app
from cardan.app.cli.options import flag_of

ROOT = Path(__file__).resolve().parents[2]
COMMANDS: Any = typer.main.get_command(app)
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
GENERATED = ("ik", "loops", "control", "generate")  # commands whose --to is a language


def cli(*args: str) -> Result:
    return CliRunner().invoke(app, list(args))


def flags(verb: str) -> dict[str, Any]:
    options = COMMANDS.commands[verb].params
    return {flag: option for option in options for flag in (*option.opts, *option.secondary_opts)}


def understood(line: str, capsys: pytest.CaptureFixture[str] | None = None) -> None:
    """Parse a line as it is typed; an error of usage fails the test, and so does an old word."""
    words = shlex.split(line, comments=True)
    assert words[0] == "cardan", line
    command = COMMANDS.commands[words[1]]
    command.make_context(words[1], list(words[2:]))
    if capsys is not None:
        assert "old spelling" not in capsys.readouterr().err, line


@pytest.mark.parametrize("verb", COMMANDS.commands)
def test_every_command_ends_its_help_with_two_examples_that_are_understood(
    verb: str, capsys: pytest.CaptureFixture[str]
) -> None:
    text = cli(verb, "--help").stdout.rstrip().splitlines()
    assert [line.strip() for line in text[-2:]] == list(EXAMPLES[verb])
    assert text[-3] == "Examples:"
    for line in EXAMPLES[verb]:
        assert line.startswith(f"cardan {verb}")
        understood(line, capsys)


def test_commands_stand_in_groups() -> None:
    text = cli("--help").stdout
    heads = re.findall(r"^([A-Z].*):$", text, re.MULTILINE)
    assert heads == ["Options", "Descriptions", "Models", "Geometry and vibration", "Motion",
                     "Data", "Application"]  # fmt: skip
    for verb in COMMANDS.commands:
        assert re.search(rf"^  {verb} ", text, re.MULTILINE), verb
    assert "..." not in text.split("Descriptions:")[1]


def test_one_word_has_one_meaning() -> None:
    """An option of several commands takes the same in all of them, or nothing in all."""
    alike = {"FORMAT": "LANGUAGE", "DIR": "FILE", "LAW,...": "LAW"}
    kinds: dict[str, set[tuple[bool, str]]] = {}
    for verb in COMMANDS.commands:
        for flag, option in flags(verb).items():
            if flag.startswith("--"):
                value = alike.get(str(option.metavar), str(option.metavar))
                kinds.setdefault(flag, set()).add((bool(option.is_flag), value))
    assert {flag: uses for flag, uses in kinds.items() if len(uses) > 1} == {}
    for verb in COMMANDS.commands:
        words = flags(verb)
        assert not {"--at", "--equations", "--from", "--drive", "--laws", "--emit"} & set(words)
        if "--to" in words and verb != "convert":
            assert words["--to"].metavar == "LANGUAGE"


@pytest.mark.parametrize(
    ("verb", "old"), [(verb, old) for verb, table in OLD.items() for old in table]
)
def test_old_spellings_lead_to_options_that_there_are(verb: str, old: str) -> None:
    what = OLD[verb][old]
    assert what.new in flags(verb)
    if what.when is None:
        assert old not in flags(verb)


@pytest.mark.parametrize(
    ("verb", "before", "after", "count"),
    [
        ("torques", "ur5 --from 0 --to 1,2 --law cubic", "ur5 --start 0 --end 1,2 --profile cubic",
         3),
        ("simulate", "ur5 --to=1 --drive pd", "ur5 --end 1 --law pd", 2),
        ("simulate", "ur5 --end 1 --law pd", "ur5 --end 1 --law pd", 0),
        ("simulate", "ur5 --law s-curve", "ur5 --profile s-curve", 1),
        ("control", "ur5 --to pi/2,0 --laws pd --emit c", "ur5 --end pi/2,0 --law pd --to c", 3),
        ("control", "ur5 --to python --law pd,pd-gravity", "ur5 --to python --law pd,pd-gravity",
         0),
        ("loops", "delta --equations --at 1,2,3", "delta --to text --q 1,2,3", 2),
        ("ik", "ur5 --equations latex", "ur5 --to latex", 1),
        ("ik", "-- --at", "-- --at", 0),
    ],
)  # fmt: skip
def test_old_spellings_are_rewritten(verb: str, before: str, after: str, count: int) -> None:
    told: list[str] = []
    assert current(verb, before.split(), told.append) == after.split()
    assert len(told) == count
    assert all("\n" not in line and "is now" in line for line in told)


def test_an_old_spelling_works_and_says_so_once() -> None:
    old, new = (cli("loops", "fivebar", flag, "2.2,0.9", "--json") for flag in ("--at", "--q"))
    assert (old.exit_code, old.stdout) == (0, new.stdout)
    assert old.stderr.strip() == (
        "cardan: --at is now --q; the old spelling goes with the next release"
    )
    assert new.stderr == ""


def test_degrees_mean_the_same_everywhere() -> None:
    arm = (10, -50, 60, 5, 20, 9)
    cases = {
        "loops": ("fivebar", (126, 51), "assemblies"), "ik": ("ur5", arm, "pose"),
        "eval": ("ur5", arm, "outputs"),
    }  # fmt: skip
    for verb, (robot, angles, key) in cases.items():
        model = ["gravity"] if verb == "eval" else []
        words = [",".join(map(str, angles)), ",".join(f"{x}*pi/180" for x in angles)]
        both = [
            cli(verb, robot, *model, "--q", words[0], "--degrees", "--json"),
            cli(verb, robot, *model, "--q", words[1], "--json"),
        ]
        assert [run.exit_code for run in both] == [0, 0]
        degrees, radians = (json.loads(run.stdout)[key] for run in both)
        degrees, radians = (x.get("Q") if isinstance(x, dict) else x for x in (degrees, radians))
        assert np.allclose(degrees, radians, atol=1e-9)


def test_the_options_of_the_chosen_model() -> None:
    text = cli("generate", "rx90", "inverse-dynamics", "--help").stdout
    assert "Options of inverse-dynamics:" in text
    assert "--base-parameters true | false" in text
    assert "--method newton-euler | lagrange" in text
    assert "--expanded" in text
    assert not re.search("^Options of", cli("generate", "--help").stdout, re.MULTILINE)
    assert cli("generate", "rx90", "--help").exit_code == 0
    assert "Options of gravity:" in cli("sweep", "ur5", "gravity", "-h").stdout
    assert "Options of gravity:" in cli("eval", "ur5", "gravity", "--help").stdout
    assert cli("generate", "rx90", "nonsense", "--help").exit_code == 0


def test_completion(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rx-own.toml").write_text("")
    (tmp_path / "rx.txt").write_text("")
    assert completion.robots("rx") == ["rx90", "rx90-base", "rx-own.toml"]
    assert completion.robots("./rx-") == ["./rx-own.toml"]
    assert completion.models("inverse-d")[0] == "inverse-dynamics"
    assert completion.languages("py") == ["python"]
    assert completion.laws("pd") == ["pd", "pd-gravity"]
    assert completion.profiles("s") == ["septic", "s-curve"]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("cardan ", ["robots", "eval", "ik"]),
        ("cardan generate rx", ["rx90", "rx90-base"]),
        ("cardan generate rx90 inverse-d", ["inverse-dynamics"]),
        ("cardan generate rx90 gravity --to pyt", ["python"]),
        ("cardan eval rx90 grav", ["gravity"]),
        ("cardan ik ur5 --to la", ["latex"]),
        ("cardan control ur5 --law compu", ["computed-torque"]),
        ("cardan simulate ur5 --prof", ["--profile"]),
    ],
)
def test_a_shell_completes_lines(line: str, words: list[str]) -> None:
    variables = {"_CARDAN_COMPLETE": "complete_zsh", "_TYPER_COMPLETE_ARGS": line}
    result = CliRunner().invoke(app, [], prog_name="cardan", env=variables)
    assert all(word in result.stdout for word in words), result.output


def command_lines(page: Path) -> list[str]:
    """The commands in the blocks of a page; words behind three blanks say what they do."""
    text = page.read_text(encoding="utf-8")
    lines = re.findall(r"^ {4,}(?:\$ )?(cardan [a-z]+(?: .*)?)$", text, re.MULTILINE)
    return [re.split(r"   +|  #", line)[0] for line in lines]


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_the_command_lines_of_the_pages_are_understood(
    page: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for line in command_lines(page):
        understood(line, capsys)


def test_the_pages_know_the_options_they_speak_of() -> None:
    """Commands between backticks, which may be parts of a line."""
    models = {flag_of(name) for entry in cardan.catalogue() for name in entry.options}
    for page in PAGES:
        for line in re.findall(r"`(cardan [a-z]+ [^`\n]+)`", page.read_text(encoding="utf-8")):
            verb = line.split()[1]
            assert verb in COMMANDS.commands, line
            own = {"--help", *flags(verb)}
            own |= models if verb in ("generate", "eval", "sweep") else set()
            if verb == "eval":
                own |= {"--q", "--qd", "--qdd", "--tau"}
            assert set(re.findall(r"(?<!\S)--[a-z0-9-]+", line)) <= own, line

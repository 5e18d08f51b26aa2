"""The workflows can be read, may do little, and call what is there; `.ci/run` gets a browser."""

import os
import re
import subprocess

import pytest
import yaml

import browser
import notebook_io

ROOT = notebook_io.ROOT
RUN = ROOT / ".ci" / "run"
WORKFLOWS = {path.stem: path for path in sorted((ROOT / ".github" / "workflows").glob("*.yml"))}
OFFICIAL = re.compile(r"actions/[a-z-]+@v\d+")


def read(name):
    """A workflow; in YAML 1.1 the key `on` is the value True."""
    workflow = yaml.safe_load(WORKFLOWS[name].read_text(encoding="utf-8"))
    return workflow | {"on": workflow[True]}


def steps(name, key):
    return [step[key] for job in read(name)["jobs"].values() for step in job["steps"] if key in step]


def verbs():
    return set(re.findall(r"^([a-z]+):[^=]", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))


def called(commands):
    return set(re.findall(r"\bmake ([a-z]+)", commands))


def test_there_are_three():
    assert set(WORKFLOWS) == {"tests", "book", "weekly"}
    assert set(read("tests")["on"]) == {"push", "pull_request"} and "schedule" in read("weekly")["on"]
    assert read("tests")["jobs"]["tests"]["strategy"]["matrix"]["python"] == ["3.11", "3.13"]


@pytest.mark.parametrize("name", WORKFLOWS)
def test_they_use_official_actions_and_end_in_time(name):
    workflow = read(name)
    assert all(OFFICIAL.fullmatch(action) for action in steps(name, "uses"))
    assert all(job["timeout-minutes"] <= 90 for job in workflow["jobs"].values())


@pytest.mark.parametrize("name", WORKFLOWS)
def test_they_may_write_nothing_but_the_pages(name):
    workflow = read(name)
    assert workflow["permissions"] == {"contents": "read"}
    granted = {job: each["permissions"] for job, each in workflow["jobs"].items() if "permissions" in each}
    assert granted == ({"deploy": {"pages": "write", "id-token": "write"}} if name == "book" else {})


@pytest.mark.parametrize("name", WORKFLOWS)
def test_what_they_call_is_there(name):
    commands = "\n".join(steps(name, "run"))
    assert called(commands) or ".ci/run" in commands or name == "book"
    assert called(commands) <= verbs()
    for file in re.findall(r"\.ci/\w+|tools/\w+\.py", commands):
        assert (ROOT / file).is_file()
    assert {"no"} == called("make no") - verbs()


def test_the_makefile_takes_the_settings_that_the_workflows_give():
    """An empty file in place of the constraints asks for the newest versions."""
    for setting in re.findall(r"\b([A-Z]+)=", "\n".join(steps("weekly", "run"))) + ["WORKERS"]:
        assert re.search(rf"^{setting} \?= ", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)


@pytest.fixture
def run(tmp_path):
    """run(*programs): `.ci/run` with these stand-ins for the system's programs → (stderr, what was called)."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("bash", "env", "dirname"):
        (folder / name).symlink_to(f"/usr/bin/{name}")

    def script(name, lines):
        (folder / name).write_text(f'#!/usr/bin/env bash\necho "{name} $*" >> "$CALLS"\n{lines}\n')
        (folder / name).chmod(0o755)

    def run(user=0, **programs):
        script("make", 'echo "CI=$CI" >> "$CALLS"')
        script("id", f"echo {user}")
        for name, lines in programs.items():
            script(name.replace("_", "-"), lines)
        environment = {"PATH": str(folder), "CALLS": str(tmp_path / "calls")}
        done = subprocess.run([str(RUN)], env=environment, capture_output=True, text=True)
        assert done.returncode == 0 and done.stdout == ""
        calls = (tmp_path / "calls").read_text().splitlines()
        assert calls[-2:] == ["make test", "CI=1"]
        return done.stderr, calls

    return run


INSTALLS = (
    f'if [ "$1" = install ]; then : > "{{}}/chromium"; {os.path.realpath("/usr/bin/chmod")} +x "{{}}/chromium"; fi'
)


@pytest.mark.parametrize("name", browser.NAMES)
def test_nothing_is_installed_where_chromium_is(run, name):
    said, calls = run(**{name.replace("-", "_"): "", "apt_get": "exit 1"})
    assert said == "" and not any(call.startswith("apt-get") for call in calls)


def test_chromium_is_installed_as_root(run, tmp_path):
    said, calls = run(apt_get=INSTALLS.replace("{}", str(tmp_path / "bin")))
    assert said == "" and [call.split()[1] for call in calls if call.startswith("apt-get")] == ["update", "install"]


def test_chromium_is_installed_with_sudo_where_it_asks_no_password(run, tmp_path):
    said, calls = run(
        user=1000, sudo='[ "$2" = true ] || "${@:2}"', apt_get=INSTALLS.replace("{}", str(tmp_path / "bin"))
    )
    assert said == "" and sum(call.startswith("sudo -n") for call in calls) == 3
    assert any(call.startswith("apt-get install") for call in calls)


@pytest.mark.parametrize(
    "machine",
    [{}, {"apt_get": "exit 1"}, {"user": 1000, "apt_get": ""}, {"user": 1000, "sudo": "exit 1", "apt_get": ""}],
    ids=["no package manager", "installing fails", "no sudo", "sudo asks for a password"],
)
def test_one_sentence_says_that_chromium_could_not_be_installed(run, machine):
    said, _ = run(**machine)
    assert said.count("\n") == 1 and said.startswith("Chromium is missing and could not be installed")

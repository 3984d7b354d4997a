import pytest

from bench.core.suite import Gold, OracleFile
from bench.errors import CorpusError
from tests.core import suites
from tests.core.suites import HEX, ORACLE, parse_task


def refused(**changes):
    with pytest.raises(CorpusError) as caught:
        parse_task(**changes)
    return str(caught.value)


@pytest.mark.parametrize("key", ["id", "cls", "prompt", "verify", "source"])
def test_required_keys(key):
    said = refused(**{key: None})
    assert "is missing" in said or "must have exactly one of source, repo" in said


@pytest.mark.parametrize("key", ["id", "cls", "prompt", "verify", "setup"])
@pytest.mark.parametrize("value", ["", " ", "\n", 3, True, [], {}])
def test_texts_are_texts_and_not_blank(key, value):
    refused(**{key: value})


@pytest.mark.parametrize(
    ("source", "read"),
    [
        ({"dir": "repos/x"}, {"dir": "repos/x"}),
        ({"dir": "repos/x/"}, {"dir": "repos/x"}),
        ({"dir": "/"}, {"dir": "/"}),
        ({"git": ".."}, {"git": "..", "ref": "HEAD"}),
        ({"git": "https://example.org/x", "ref": "v1"}, {"git": "https://example.org/x", "ref": "v1"}),
        ({"git": "git@example.org:x/y.git", "ref": None}, {"git": "git@example.org:x/y.git", "ref": "HEAD"}),
        ({"sdist": "click==8.1.7"}, {"sdist": "click==8.1.7"}),
        ({"sdist": "click==8.1.7", "sha256": HEX.upper()}, {"sdist": "click==8.1.7", "sha256": HEX}),
    ],
)
def test_sources(source, read):
    assert dict(parse_task(source=source).source) == read


@pytest.mark.parametrize(
    "source",
    [
        {},
        {"dir": "a", "git": "b"},
        {"dir": "a", "ref": "b"},
        {"git": "a", "sha256": HEX},
        {"git": "ext::sh -c id"},
        {"git": "--upload-pack=id"},
        {"git": "https://user:secret@example.org/x"},
        {"git": "a", "ref": "--output=x"},
        {"git": "a", "ref": "a b"},
        {"git": "a\nb"},
        {"dir": "-x"},
        {"sdist": "click"},
        {"sdist": "click>=8"},
        {"sdist": "click==8\n"},
        {"sdist": "click==8", "sha256": "abc"},
        {"sdist": "click==8", "sha256": HEX + "\n"},
        {"url": "x"},
    ],
)
def test_sources_that_are_refused(source):
    refused(source=source)


def test_a_password_in_an_address_is_not_repeated():
    assert "secret" not in refused(source={"git": "https://user:secret@example.org/x"})


def test_repo_and_ref_are_a_git_source():
    task = parse_task(source=None, repo="../x", ref="v1")
    assert dict(task.source) == {"git": "../x", "ref": "v1"}
    assert dict(parse_task(source=None, repo="../x").source)["ref"] == "HEAD"
    assert "exactly one of source, repo" in refused(repo="../x")
    assert "'ref' needs 'repo' beside it" in refused(ref="v1")


def test_lengths():
    assert parse_task(verify="x" * 8192).verify == "x" * 8192
    assert "holds 8193 bytes, the limit is 8192" in refused(verify="x" * 8193)
    assert "holds 8194 bytes" in refused(setup="é" * 4097)
    command = {"command": "x" * 8193, "files": ORACLE["files"]}
    assert "the limit is 8192" in refused(oracle=command)


@pytest.mark.parametrize(
    "requirement",
    ["pytest", "pytest==9.0.3", "a>=1,<2", "A.b-c_d[x,y] ~= 1.0", "a==1.*", "a ; python_version < '3.12'", "a===1.0+local"],
)
def test_requirements(requirement):
    assert parse_task(dependencies={"pip": [requirement]}).dependencies == (requirement,)


@pytest.mark.parametrize(
    "requirement",
    [
        "",
        "-r x.txt",
        "--index-url=x",
        "./x",
        "/x",
        "a @ https://example.org/a.whl",
        "https://example.org/a.whl",
        "a b",
        "a==",
        "a\0",
    ],
)
def test_requirements_that_are_refused(requirement):
    refused(dependencies={"pip": [requirement]})


def test_no_dependencies_and_an_empty_list_are_the_same():
    assert parse_task(dependencies={"pip": []}) == parse_task(dependencies={}) == parse_task()
    assert "did you mean 'pip'?" in refused(dependencies={"pipp": []})


def test_mounts_and_copies():
    task = parse_task(sandbox_copy=["a/b"], sandbox_dependencies=[{"source": "x", "target": "y"}])
    assert task.sandbox_copy == ("a/b",)
    assert task.sandbox_dependencies == (("x", "y"),)
    refused(sandbox_copy=["../a"])
    refused(sandbox_copy=["/a"])
    refused(sandbox_dependencies=[{"source": "x"}])
    refused(sandbox_dependencies=[{"source": "x", "target": "y", "mode": "rw"}])
    assert "side by side" in refused(sandbox_dependencies=[{"source": "x", "target": "y"}, {"source": "z", "target": "y/z"}])


def oracle(*files, **more):
    return {"command": "true", "files": list(files), **more}


def file(source="a.py", target="t.py", **more):
    return {"source": source, "target": target, **more}


def test_the_two_forms_of_an_oracle():
    pytest_form = parse_task(oracle=ORACLE).oracle
    assert (pytest_form.pytest, pytest_form.paths, pytest_form.pythonpath) == (True, ("test_hidden.py",), ("src",))
    assert pytest_form.command is None
    command = parse_task(oracle=oracle(file(), report="pytest")).oracle
    assert (command.pytest, command.command, command.report) == (False, "true", "pytest")
    assert parse_task(oracle=oracle(file())).oracle == parse_task(oracle=oracle(file(), report="exit")).oracle


def test_files_of_an_sdist():
    found = {"sdist": "click==8.1.8", "sha256": HEX, "path": "tests/test_x.py", "target": "test_x.py"}
    expected = OracleFile(source="tests/test_x.py", target="test_x.py", sdist="click==8.1.8", sha256=HEX)
    assert parse_task(oracle=oracle(found)).oracle.files == (expected,)


def test_tests_below_a_directory_of_an_sdist_may_be_chosen():
    folder = {"sdist": "click==8.1.8", "sha256": HEX, "path": "tests", "target": "tests"}
    form = {"pytest": {"paths": ["tests/test_x.py", "tests/deep/test_y.py"]}, "files": [folder]}
    assert parse_task(oracle=form).oracle.paths == ("tests/test_x.py", "tests/deep/test_y.py")
    # A file of oracles/ is no directory, and a name that only begins like the target is another one.
    for files, wanted in (([file("a", "tests")], "tests/test_x.py"), ([folder], "tests_more.py"), ([folder], "test")):
        said = refused(oracle={"pytest": {"paths": [wanted]}, "files": files})
        assert "is no target of the oracle's files; targets: tests" in said


def test_the_workspace_itself_may_be_on_the_path():
    form = {"pytest": {"paths": ["t.py"], "pythonpath": ["."]}, "files": [file()]}
    assert parse_task(oracle=form).oracle.pythonpath == (".",)


def test_eight_files_and_no_more():
    files = [file(f"s{n}.py", f"t{n}.py") for n in range(9)]
    assert len(parse_task(oracle=oracle(*files[:8])).oracle.files) == 8
    assert "must have at most 8 entries, not 9" in refused(oracle=oracle(*files))


@pytest.mark.parametrize(
    "bad",
    [
        {},
        {"files": [file()]},
        {"command": "true"},
        oracle(),
        oracle(file(), pytest={"paths": ["t.py"]}),
        oracle(file(), report="junit"),
        oracle(file(), timeout=3),
        oracle(file(mode="0644")),
        oracle({"source": "a.py"}),
        oracle({"source": "a.py", "sdist": "a==1", "sha256": HEX, "target": "t.py"}),
        oracle({"sdist": "a==1", "path": "x", "target": "t.py"}),
        oracle(file(), file()),
        oracle(file("a.py", "t.py"), file("b.py", "t.py")),
        oracle(file("a.py", "t.py"), file("b.py", "T.py")),
        oracle(file("a.py", "t.py"), file("a.py", "u.py")),
        oracle(file("a.py", "t"), file("b.py", "t/u.py")),
        oracle(file("../a.py")),
        oracle(file(target="../t.py")),
        oracle(file(target="/t.py")),
        oracle(file(target="a\\t.py")),
        oracle(file(target=".git/hooks/x")),
        oracle(file(target="x" * 241)),
        oracle(file(target="a\0b")),
        {"command": "a\0b", "files": [file()]},
        {"pytest": {"paths": []}, "files": [file()]},
        {"pytest": {"paths": ["other.py"]}, "files": [file()]},
        {"pytest": {"paths": ["t.py"], "report": "x"}, "files": [file()]},
        {"pytest": {"paths": ["t.py"], "args": [""]}, "files": [file()]},
        {"pytest": {"paths": ["t.py"], "pythonpath": ["../x"]}, "files": [file()]},
        {"pytest": {"paths": ["t.py"]}, "report": "exit", "files": [file()]},
    ],
)
def test_oracles_that_are_refused(bad):
    refused(oracle=bad)


def test_gold():
    assert parse_task(gold="x/gold.patch").gold == Gold(patch="x/gold.patch")
    release = {"sdist": "click==8.1.8", "sha256": HEX, "exclude": ["tests/*"]}
    assert parse_task(gold=release).gold == Gold(sdist="click==8.1.8", sha256=HEX, exclude=("tests/*",))
    for bad in ["", "../x", {}, {"sdist": "click==8"}, {"patch": "x"}, release | {"x": 1}, 3]:
        refused(gold=bad)


def test_null_is_left_out():
    nothing = {"setup": None, "dependencies": None, "oracle": None, "gold": None}
    data = suites.suite(tasks=[suites.TASK | nothing | {"expensive": False, "sandbox_copy": [], "sandbox_dependencies": []}])
    assert suites.parse(data) == suites.parse(suites.SUITE)


def test_the_position_is_that_of_the_fault():
    text = "suite: demo\narms: [nop]\ntasks:\n- id: a\n  class: x\n  source: {dir: x}\n  prompt: p\n  verify: v\n"
    text += "  oracle:\n    command: 'true'\n    files:\n    - source: a\n      target: ../a\n"
    with pytest.raises(CorpusError, match=r"^corpus/demo\.yaml:13:15: the path '\.\./a' holds"):
        suites.parse_text(text)


def test_a_patch_is_a_path_below_the_corpus():
    assert parse_task(patch="reviews/one.patch").patch == "reviews/one.patch"
    assert parse_task().patch is None
    assert "'../x.patch'" in refused(patch="../x.patch")
    assert "unknown key" in refused(patches="x")

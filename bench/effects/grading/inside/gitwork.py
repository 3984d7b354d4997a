"""Inside: what git says about changes, computed in a fresh repository of our own beside the template's objects.

`gitwork.py diff TEMPLATE COMMIT LIMIT`: packed changes on stdin → one line of JSON {files, insertions, deletions, bytes}
and then the patch, cut after LIMIT bytes, on the channel.
`gitwork.py apply TEMPLATE COMMIT`: a patch on stdin → the packed changes that it makes, on the channel.
There is no working tree: no attribute, ignore rule, hook, filter or setting of the workspace can reach a byte.
"""

import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile

WHO = b"Assay <assay@invalid> 946684800 +0000"
NEUTRAL = "* -text !diff !merge !filter !ident !eol !whitespace !working-tree-encoding !export-subst\n"
DIFF = ["diff-tree", "-r", "-M", "-l2000", "--no-color", "--no-ext-diff", "--no-textconv", "--diff-algorithm=myers"]
PATCH = ["-p", "--binary", "--full-index", "--indent-heuristic", "-U3", "--inter-hunk-context=0"]
PATCH += ["--src-prefix=a/", "--dst-prefix=b/"]


class Git:
    """A bare repository in a fresh place, which borrows the template's objects."""

    def __init__(self, template: str) -> None:
        self.home = tempfile.mkdtemp()
        self.env = {
            "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
            "LC_ALL": "C.UTF-8",
            "HOME": self.home,
            "GIT_DIR": self.home + "/git",
            "GIT_INDEX_FILE": self.home + "/index",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": "/dev/null",
            "GIT_ATTR_NOSYSTEM": "1",
            "GIT_NO_REPLACE_OBJECTS": "1",
        }
        self("init", "--bare", "--quiet", "--template=", self.home + "/git")
        for name, text in (("objects/info/alternates", template + "/.git/objects\n"), ("info/attributes", NEUTRAL)):
            place = os.path.join(self.home, "git", name)
            os.makedirs(os.path.dirname(place), exist_ok=True)
            with open(place, "w") as out:
                out.write(text)

    def __call__(self, *argv: str, stdin: bytes = b"") -> bytes:
        done = subprocess.run(["git", *argv], env=self.env, input=stdin, capture_output=True)
        if done.returncode:
            sys.stderr.buffer.write(done.stderr[-2000:])
            raise SystemExit(3)
        return done.stdout


def quoted(path: bytes) -> bytes:
    return b'"' + path.replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n") + b'"'


def stream(commit: str) -> bytes:
    """The input of fast-import: the template's commit with the changes of stdin on top."""
    out = io.BytesIO()
    out.write(b"feature done\ncommit refs/heads/after\nauthor %s\ncommitter %s\ndata 0\n" % (WHO, WHO))
    out.write(b"from %s\n" % commit.encode())
    with tarfile.open(fileobj=sys.stdin.buffer, mode="r|") as tar:
        for info in tar:
            source = None if info.issym() else tar.extractfile(info)
            data = source.read() if source is not None else os.fsencode(info.linkname)
            if info.name == "changes.json":
                for path in json.loads(data)["deletions"]:
                    out.write(b"D %s\n" % quoted(os.fsencode(path)))
                continue
            mode = b"120000" if info.issym() else b"100755" if info.mode & 0o100 else b"100644"
            name = quoted(os.fsencode(info.name.removeprefix("files/")))
            out.write(b"M %s inline %s\ndata %d\n" % (mode, name, len(data)) + data + b"\n")
    out.write(b"done\n")
    return out.getvalue()


def churn(numstat: bytes) -> dict[str, int]:
    """Files, insertions and deletions of `--numstat -z`; a binary file counts as a file without lines."""
    files = added = removed = 0
    fields = iter(numstat.split(b"\0"))
    for field in fields:
        if not field:
            continue
        plus, minus, name = field.split(b"\t", 2)
        files += 1
        added += int(plus) if plus != b"-" else 0
        removed += int(minus) if minus != b"-" else 0
        if not name:
            next(fields), next(fields)
    return {"files": files, "insertions": added, "deletions": removed}


def diff(git: Git, commit: str, limit: int) -> None:
    git("fast-import", "--quiet", "--date-format=raw", stdin=stream(commit))
    ends = [commit, "refs/heads/after"]
    said = churn(git(*DIFF, "--numstat", "-z", *ends))
    patch = git(*DIFF, *PATCH, *ends)
    with os.fdopen(int(os.environ["ASSAY_CHANNEL"]), "wb") as out:
        out.write(json.dumps(said | {"bytes": len(patch)}).encode() + b"\n" + patch[:limit])


def apply(git: Git, commit: str) -> None:
    git("read-tree", commit)
    git("apply", "--cached", "--binary", "--whitespace=nowarn", "-", stdin=sys.stdin.buffer.read())
    raw = iter(git("diff-index", "--cached", "--raw", "-z", "--no-renames", "--full-index", commit).split(b"\0"))
    gone: list[str] = []
    entries: list[tuple[str, bytes, str]] = []
    for field in raw:
        if not field:
            continue
        _, mode, _, blob, status = field.split(b" ")
        path = os.fsdecode(next(raw))
        if status == b"D":
            gone.append(path)
        elif mode in (b"100644", b"100755", b"120000"):
            entries.append((path, mode, blob.decode()))
        else:
            raise SystemExit(f"the patch makes an entry of mode {mode.decode()}: {path}")
    with os.fdopen(int(os.environ["ASSAY_CHANNEL"]), "wb") as out, tarfile.open(fileobj=out, mode="w|") as tar:
        for name, kind, oid in entries:
            add(tar, "files/" + name, kind, git("cat-file", "blob", oid))
        add(tar, "changes.json", b"100644", json.dumps({"deletions": gone, "oddities": []}).encode())


def add(tar: tarfile.TarFile, name: str, mode: bytes, data: bytes) -> None:
    info = tarfile.TarInfo(name)
    if mode == b"120000":
        info.type, info.linkname, info.mode = tarfile.SYMTYPE, os.fsdecode(data), 0o777
        tar.addfile(info)
        return
    info.size, info.mode = len(data), 0o755 if mode == b"100755" else 0o644
    tar.addfile(info, io.BytesIO(data))


def main() -> None:
    git = Git(sys.argv[2])
    if sys.argv[1] == "diff":
        diff(git, sys.argv[3], int(sys.argv[4]))
    else:
        apply(git, sys.argv[3])


if __name__ == "__main__":
    main()

"""Git repositories for tests, made with plain git and the identity of a user who is nobody."""

import os
import subprocess

ENV = {
    "PATH": os.environ["PATH"],
    "HOME": "/nonexistent",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_AUTHOR_NAME": "N",
    "GIT_AUTHOR_EMAIL": "n@invalid",
    "GIT_COMMITTER_NAME": "N",
    "GIT_COMMITTER_EMAIL": "n@invalid",
    "GIT_AUTHOR_DATE": "2020-01-01T00:00:00Z",
    "GIT_COMMITTER_DATE": "2020-01-01T00:00:00Z",
    "GIT_ALLOW_PROTOCOL": "file",
}


def git(root, *arguments, **options):
    done = subprocess.run(["git", *arguments], cwd=root, env=ENV, check=True, capture_output=True, text=True, **options)
    return done.stdout.strip()


def init(root):
    root.mkdir(parents=True)
    git(root, "init", "--quiet", "--initial-branch=main")
    return root


def commit(root, files, message="work"):
    """Write `files` (path → bytes or str), commit everything, return the commit."""
    for path, data in files.items():
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data if isinstance(data, bytes) else data.encode())
    git(root, "add", "--all", "--force")
    git(root, "commit", "--quiet", "--allow-empty", "-m", message)
    return git(root, "rev-parse", "HEAD")

import pytest

from bench.core import semver


@pytest.mark.parametrize(
    "text", ["0.0.0", "1.2.3", "10.20.30", "1.0.0-alpha.1", "1.0.0-0A.is.legal", "1.0.0+build.01", "2.1.214"]
)
def test_exact_versions(text):
    assert semver.exact(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "1",
        "1.2",
        "v1.2.3",
        "01.2.3",
        "1.2.3-",
        "1.2.3-01",
        "1.2.3 ",
        "^1.2.3",
        "1.2.x",
        "1.2.3\n",
        "1.2.٣",
        "1.0.0-" + "a" * 200,
    ],
)
def test_everything_else_is_none(text):
    assert not semver.exact(text)

"""Small sources for tests of indexers, written below a given directory."""

from __future__ import annotations

from pathlib import Path

SHAPES = {
    "pkg/__init__.py": "from .shapes import measure\n",
    "pkg/shapes.py": (
        "LIMIT = 3\n"  # 1
        "\n"
        "\n"
        "class Shape:\n"  # 4
        "    def __init__(self, width, height):\n"
        "        self.width = width\n"
        "        self.height = height\n"
        "\n"
        "    def area(self, scale=1):\n"  # 9
        "        total = self.width * self.height\n"
        "        if scale > LIMIT:\n"  # 11
        "            total = total * scale\n"
        "        return total\n"  # 13
        "\n"
        "\n"
        "def measure(shape):\n"  # 16
        "    result = shape.area(2)\n"
        "    return result\n"  # 18
    ),
    "main.py": (
        "from pkg.shapes import Shape, measure\n"
        "\n"
        "\n"
        "def main():\n"  # 4
        "    shape = Shape(1, 2)\n"
        "    return measure(shape)\n"  # 6
    ),
}

UNIONS = {
    "unions.py": (
        "import os\n\n\n"
        "class A:\n    def go(self):\n        return 1\n\n\n"
        "class B:\n    def go(self):\n        return 'x'\n\n\n"
        "class C(A):\n    def go(self):\n        return [1]\n\n\n"
        "class D(B):\n    pass\n\n\n"
        "def pick(n):\n"
        "    for kind in (A, B, C, D):\n        if n == kind:\n            return kind()\n"
        "    return {'a': A(), 'b': B(), 'c': C(), 'd': D()}[n]\n\n\n"
        "def use(n, mode):\n"
        "    pick(n).go().bit_length()\n"
        "    pick(n).go().upper()\n"
        "    for value in [pick(1), A(), B(), C(), D()]:\n        value.go()\n"
        "    for value in {A(), B(), C(), D()}:\n        value.go().append(1)\n"
        "    with open(n, mode) as out:\n        out.write('x')\n        out.read()\n        out.seek(0)\n"
        "    os.fdopen(1, mode).write(n)\n"
    )
}
"""Calls with several candidates each, whose order an analysis must not take from addresses in memory."""


def write(root: Path, files: dict[str, str | bytes]) -> Path:
    """The files below `root`."""
    for path, text in files.items():
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(text if isinstance(text, bytes) else text.encode())
    return root

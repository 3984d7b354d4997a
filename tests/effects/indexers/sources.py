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


def write(root: Path, files: dict[str, str | bytes]) -> Path:
    """The files below `root`."""
    for path, text in files.items():
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(text if isinstance(text, bytes) else text.encode())
    return root

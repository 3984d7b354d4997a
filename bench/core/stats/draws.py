"""Random numbers that are the same everywhere and for ever: the raw stream of a seeded PCG64, which numpy promises to keep.

No generator method is used (their streams may change with a numpy version), so a report rebuilt later is the same report.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SEED = 20_240_229
"""A constant: with sorted values it makes every result a function of the values alone, whatever order they came in."""
_UNIT = 2.0**-53


class Draws:
    """One stream of draws; two of the same seed give the same numbers."""

    def __init__(self, seed: int = SEED) -> None:
        from numpy.random import PCG64

        self._bits = PCG64(seed)

    def units(self, *shape: int) -> NDArray[np.float64]:
        """Uniform numbers in [0, 1)."""
        import numpy as np

        return np.asarray(self._raw(*shape) * _UNIT, dtype=np.float64)

    def places(self, below: int, *shape: int) -> NDArray[np.int64]:
        """Uniform whole numbers in [0, below)."""
        import numpy as np

        return (self.units(*shape) * below).astype(np.int64)

    def signs(self, *shape: int) -> NDArray[np.float64]:
        """Each −1 or +1."""
        import numpy as np

        return np.asarray(self.places(2, *shape) * 2.0 - 1.0, dtype=np.float64)

    def _raw(self, *shape: int) -> NDArray[np.uint64]:
        import math

        import numpy as np

        drawn = np.asarray(self._bits.random_raw(math.prod(shape)), dtype=np.uint64)
        return (drawn >> np.uint64(11)).reshape(shape)

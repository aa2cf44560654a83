"""The kinds of arrays that experiments work on."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
Flags = NDArray[np.bool_]
Keys = NDArray[np.uint64]  # of instances, for their random numbers

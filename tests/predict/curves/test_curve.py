"""What a curve makes of its launches."""

import warnings

import numpy as np

from bareline.predict.curves.curve import Curve, CurveKey


def test_a_launch_that_lost_every_size_is_no_speed():
    """Nearly every prediction warned: All-NaN slice encountered."""
    launches = np.ones((12, 3)) * np.linspace(1.0, 1.02, 12)[:, None]
    launches[3] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = Curve(CurveKey("mpi.pingpong", 2, 1), np.array([1.0, 8.0, 64.0]), launches)
        assert found.two_speeds == (1.0, 0)

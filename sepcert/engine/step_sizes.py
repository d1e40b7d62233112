"""Step sizes that several algorithms share."""

from __future__ import annotations


def smoothing_step(iteration: int) -> float:
    """Return theta_k = 2/(k+3) of the smoothed methods (Ramdas and Pena, Algorithms 4 and 6), k from 0.

    With mu_{k+1} = (1 - theta_k) mu_k it gives mu_k = 2 mu_0 / ((k+1)(k+2)).
    """
    return 2.0 / (iteration + 3)


def towards_row(square: float, product: float, diagonal: float = 1.0) -> float:
    """Return the t in [0, 1] that minimises |(1-t) p + t e_j|_G.

    Parameters
    ----------
    square : float
        |p|_G^2.
    product : float
        (G p)_j.
    diagonal : float
        G_jj.
    """
    curvature = square - 2.0 * product + diagonal
    if curvature <= 0.0:
        return 0.0
    return min(1.0, max(0.0, (square - product) / curvature))

"""A simulated cluster: native MPI programs run inside SimGrid's SMPI, whose clock is used.

Every time of such a platform is marked as simulated. Simulated times can show the growth of a cost
with the number of ranks. They show neither the noise of a machine nor the effect of resources that
the cores of a processor share.

References
----------
H. Casanova et al., "Versatile, Scalable, and Accurate Simulation of Distributed Applications and
Platforms", J. Parallel and Distributed Computing 74(10), 2014, doi:10.1016/j.jpdc.2014.06.008.
A. Degomme et al., "Simulating MPI Applications: The SMPI Approach", IEEE Trans. Parallel and
Distributed Systems 28(8), 2017, doi:10.1109/TPDS.2017.2669305.
"""

from bareline.platforms.sim.platform import PLATFORM

__all__ = ["PLATFORM"]

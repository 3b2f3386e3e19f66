"""Hosts that are network namespaces of this machine, joined by a bridge with shaped links.

Each host has its own network stack, host name, process numbers, System V memory and /dev/shm, so
that MPI libraries take them for separate machines; they share the machine's cores, memory, clock
and file systems. A shaper limits the rate of a link and adds no latency: the one-way time of a
small message is that of the kernel's own network stack. It lets a packet pass and charges for it
afterwards, so that packets are kept as short as the latency hides.
"""

from bareline.platforms.localhost.netns.platform import NetnsPlatform

PLATFORM = NetnsPlatform

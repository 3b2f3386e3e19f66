"""Hosts that are network namespaces of this machine, connected by a bridge with limited links.

Each host has its own network stack, host name, process numbers, System V memory and /dev/shm, so
that MPI libraries treat the hosts as separate machines. The hosts share the machine's cores,
memory, clock and file systems. A shaper limits the rate of a link and adds no latency: the one-way
time of a small message is that of the kernel's own network stack. The shaper lets a packet pass and
delays the next packets. The packets are short enough that the latency of a message hides this
delay.
"""

from bareline.platforms.localhost.netns.platform import NetnsPlatform

PLATFORM = NetnsPlatform

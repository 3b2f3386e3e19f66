"""Hosts that are network namespaces of this machine, connected by a bridge with limited links.

Each host has its own network stack, host name, process numbers, System V memory and /dev/shm, so
that MPI libraries treat the hosts as separate machines. The hosts share the machine's cores,
memory, clock and file systems. A shaper limits the rate of a link and adds no latency: the one-way
time of a small message is that of the kernel's own network stack. The shaper lets a packet pass at
once and delays only the next packet. By default, the packets of a link of at least 1 Gb/s are so
long that the link carries one packet in about 12 us. This is about the latency of a message, so
that a message of one packet does not exceed the rate.
"""

from bareline.platforms.localhost.netns.platform import NetnsPlatform

PLATFORM = NetnsPlatform

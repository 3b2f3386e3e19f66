"""Hosts that are network namespaces of this machine, joined by a bridge with shaped links.

Each host has its own network stack, host name, process numbers, System V memory and /dev/shm, so
that MPI libraries take them for separate machines; they share the machine's cores, memory, clock
and file systems. A shaper limits the rate of a link and adds no latency: the one-way time of a
small message is that of the kernel's own network stack. It counts packets, not bits on a wire: up
to 64 KiB that leave as one packet arrive at once, and only what follows waits for them, so
messages of a few KiB cross a slow link faster than they could on a wire.
"""

from bareline.platforms.netns.platform import NetnsPlatform

PLATFORM = NetnsPlatform

"""Virtual machines that bareline makes: libvirt and QEMU, joined by a private network."""

from bareline.platforms.vm.platform import VmPlatform

PLATFORM = VmPlatform

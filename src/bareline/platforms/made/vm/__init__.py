"""Virtual machines that bareline creates with libvirt and QEMU, joined by a private network."""

from bareline.platforms.made.vm.platform import VmPlatform

PLATFORM = VmPlatform

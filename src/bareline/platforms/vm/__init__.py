"""Virtual machines that bareline makes: libvirt and QEMU, joined by a private network.

`options` says what can be chosen, `domain` turns it into a libvirt definition, `image` and
`medium` are what guests start from, `hypervisor` encloses libvirt, `fleet` brings guests up and
keeps them, `allocation` runs trials in them.
"""

from bareline.platforms.vm.platform import VmPlatform

PLATFORM = VmPlatform

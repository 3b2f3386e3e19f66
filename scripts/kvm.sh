#!/bin/sh
# Whether it is worth trying to run guests with hardware virtualization: KVM of a real processor,
# which this user may use. Otherwise print why not, and fail. Only a guest that boots is a proof.
if [ ! -e /dev/kvm ]; then
    echo "there is no /dev/kvm"
elif [ ! -r /dev/kvm ] || [ ! -w /dev/kvm ]; then
    echo "/dev/kvm may not be opened by this user"
elif [ ! -d /sys/module/kvm_intel ] && [ ! -d /sys/module/kvm_amd ]; then
    echo "/dev/kvm is not backed by the processor's hardware virtualization"
elif [ "$(id -u)" -ne 0 ]; then
    echo "only root starts guests"
else
    exit 0
fi
exit 1

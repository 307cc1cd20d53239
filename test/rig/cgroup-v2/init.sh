#!/bin/busybox sh
# The first process of the emulated machine: mounts what there is to mount, cgroup version 2 alone among it, runs the guest
# program with the second serial line as its output, and ends the machine.
/bin/busybox --install -s /bin
export PATH=/bin HOME=/root
mkdir -p /proc /sys /dev /tmp /root
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev
mount -t tmpfs -o mode=1777 tmp /tmp
mount -t cgroup2 cgroup2 /sys/fs/cgroup
# The kernel's own messages go to the first line.
exec </dev/null >/dev/ttyS1 2>&1
. /guest-command
"$@"
echo "rig: the guest program ended with $?"
reboot -f

package confine

import "golang.org/x/sys/unix"

const auditArch = unix.AUDIT_ARCH_AARCH64

// moreRefused are calls that only this list has on arm64.
var moreRefused = [...]uint32{unix.SYS_NFSSERVCTL, unix.SYS_LOOKUP_DCOOKIE}

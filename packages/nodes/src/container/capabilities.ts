/** What a container's programs may do beyond files: the capabilities of Linux, as masks of bits. Pure. */
import type { Container } from '@gyropilot/api'

/** In the order of their numbers; capabilities(7). */
const NAMES = [
  'CHOWN DAC_OVERRIDE DAC_READ_SEARCH FOWNER FSETID KILL SETGID SETUID SETPCAP LINUX_IMMUTABLE',
  'NET_BIND_SERVICE NET_BROADCAST NET_ADMIN NET_RAW IPC_LOCK IPC_OWNER SYS_MODULE SYS_RAWIO',
  'SYS_CHROOT SYS_PTRACE SYS_PACCT SYS_ADMIN SYS_BOOT SYS_NICE SYS_RESOURCE SYS_TIME',
  'SYS_TTY_CONFIG MKNOD LEASE AUDIT_WRITE AUDIT_CONTROL SETFCAP MAC_OVERRIDE MAC_ADMIN SYSLOG',
  'WAKE_ALARM BLOCK_SUSPEND AUDIT_READ PERFMON BPF CHECKPOINT_RESTORE',
].flatMap((names) => names.split(' '))

const ALL = (1n << BigInt(NAMES.length)) - 1n

/** Those that containerd gives. */
const USUAL = maskOf(
  'CHOWN DAC_OVERRIDE FOWNER FSETID KILL SETGID SETUID SETPCAP NET_BIND_SERVICE NET_RAW SYS_CHROOT MKNOD AUDIT_WRITE SETFCAP'.split(
    ' ',
  ),
)

/** The most that any of its programs can have. */
export function boundingSet({ securityContext }: Container): bigint {
  const { privileged, capabilities } = securityContext ?? {}
  if (privileged === true) return ALL
  const { add = [], drop = [] } = capabilities ?? {}
  return (USUAL & ~maskOf(drop)) | maskOf(add)
}

/** `ALL` is all of them; with or without `CAP_`. */
function maskOf(names: readonly string[]): bigint {
  let mask = 0n
  for (const name of names) {
    if (name.toUpperCase() === 'ALL') return ALL
    const number = NAMES.indexOf(name.toUpperCase().replace(/^CAP_/, ''))
    if (number !== -1) mask |= 1n << BigInt(number)
  }
  return mask
}

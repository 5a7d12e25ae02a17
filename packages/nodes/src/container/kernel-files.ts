/** What the kernel shows of a container below /proc: settings of its pod, and what it allows its programs. Pure. */
import type { Container, Pod } from '@gyropilot/api'
import { settingPath } from '../commands/sysctl-command.ts'
import { boundingSet } from './capabilities.ts'
import { userOf } from './container-user.ts'

/** Of a pod that asks for nothing: the safe ones that have a namespace of their own. */
const SETTINGS: Readonly<Record<string, string>> = {
  'kernel.shm_rmid_forced': '0',
  'net.ipv4.ip_local_port_range': '32768\t60999',
  'net.ipv4.ip_local_reserved_ports': '',
  'net.ipv4.ip_unprivileged_port_start': '0',
  'net.ipv4.ping_group_range': '0\t2147483647',
  'net.ipv4.tcp_fin_timeout': '60',
  'net.ipv4.tcp_keepalive_intvl': '75',
  'net.ipv4.tcp_keepalive_probes': '9',
  'net.ipv4.tcp_keepalive_time': '7200',
  'net.ipv4.tcp_syncookies': '1',
}

/** Texts by path. */
export function kernelFiles(pod: Pod, container: Container): Readonly<Record<string, string>> {
  const asked = pod.spec?.securityContext?.sysctls ?? []
  const values = {
    ...SETTINGS,
    ...Object.fromEntries(asked.map(({ name, value }) => [name.replaceAll('/', '.'), value])),
  }
  const settings = Object.entries(values).map(([name, value]) => [settingPath(name), `${value}\n`])
  const status = processStatus(pod, container)
  return {
    ...Object.fromEntries(settings),
    '/proc/1/status': status,
    '/proc/self/status': status,
  }
}

function processStatus(pod: Pod, container: Container): string {
  const { uid, gid, groups } = userOf(pod, container)
  const { seccompProfile, allowPrivilegeEscalation, privileged } = {
    ...pod.spec?.securityContext,
    ...container.securityContext,
  } as NonNullable<Container['securityContext']>
  const isFiltered = privileged !== true && (seccompProfile?.type ?? 'Unconfined') !== 'Unconfined'
  const bounding = boundingSet(container)
  // Who is not root has to be given them by the file of the program.
  const own = uid === 0 ? bounding : 0n
  const mask = (bits: bigint): string => bits.toString(16).padStart(16, '0')
  const four = (value: number): string => Array.from({ length: 4 }, () => value).join('\t')
  return [
    `Uid:\t${four(uid)}`,
    `Gid:\t${four(gid)}`,
    `Groups:\t${groups.join(' ')} `,
    `CapInh:\t${mask(0n)}`,
    `CapPrm:\t${mask(own)}`,
    `CapEff:\t${mask(own)}`,
    `CapBnd:\t${mask(bounding)}`,
    `CapAmb:\t${mask(0n)}`,
    `NoNewPrivs:\t${allowPrivilegeEscalation === false ? 1 : 0}`,
    `Seccomp:\t${isFiltered ? 2 : 0}`,
    `Seccomp_filters:\t${isFiltered ? 1 : 0}`,
    '',
  ].join('\n')
}

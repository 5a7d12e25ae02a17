/** What the level `baseline` forbids. */
import { SAFE_SYSCTLS } from '@gyropilot/api'
import type { Stored } from '../../registry/kind-rules.ts'
import {
  forContainers,
  labelled,
  namesWhere,
  podAndContainers,
  quoted,
  violation,
} from './violations.ts'
import type { JudgedPod, Violation } from './violations.ts'

const BASELINE_CAPABILITIES = new Set([
  'AUDIT_WRITE',
  'CHOWN',
  'DAC_OVERRIDE',
  'FOWNER',
  'FSETID',
  'KILL',
  'MKNOD',
  'NET_BIND_SERVICE',
  'SETFCAP',
  'SETGID',
  'SETPCAP',
  'SETUID',
  'SYS_CHROOT',
])
const SELINUX_TYPES = new Set(['', 'container_t', 'container_init_t', 'container_kvm_t'])
/** Newer versions allow this one too. */
const ENGINE_TYPE = 'container_engine_t'
const ENGINE_TYPE_SINCE = 31
/** Safe sysctls that older versions do not know, and since when they are allowed. */
const SYSCTLS_SINCE: Readonly<Record<string, number>> = {
  'net.ipv4.ip_local_reserved_ports': 27,
  'net.ipv4.tcp_fin_timeout': 29,
  'net.ipv4.tcp_keepalive_intvl': 29,
  'net.ipv4.tcp_keepalive_probes': 29,
  'net.ipv4.tcp_keepalive_time': 29,
  'net.ipv4.tcp_rmem': 32,
  'net.ipv4.tcp_wmem': 32,
}
/** Since then users of a pod that are nobody on the node are trusted with more. */
const USER_NAMESPACES_SINCE = 35
const POD_SECCOMP_ANNOTATION = 'seccomp.security.alpha.kubernetes.io/pod'
const CONTAINER_SECCOMP_ANNOTATION = 'container.seccomp.security.alpha.kubernetes.io/'
const APPARMOR_ANNOTATION = 'container.apparmor.security.beta.kubernetes.io/'

export function appArmorProfile({ metadata, spec, containers }: JudgedPod): Violation | undefined {
  const isBad = (context: Stored | undefined): boolean =>
    context?.['appArmorProfile']?.type === 'Unconfined'
  const holders: string[] = []
  const values: string[] = []
  const setters = podAndContainers(isBad(spec['securityContext']), namesWhere(containers, isBad))
  if (setters !== '') {
    holders.push(setters)
    values.push('"Unconfined"')
  }
  const annotations = Object.entries((metadata['annotations'] ?? {}) as Record<string, string>)
  const bad = annotations
    .filter(([key, value]) => key.startsWith(APPARMOR_ANNOTATION) && !isAllowedAppArmor(value))
    .map(([key, value]) => `"${key}=${JSON.stringify(value)}"`)
    .toSorted()
  if (bad.length > 0) holders.push(`annotation${bad.length > 1 ? 's' : ''}`)
  values.push(...bad)
  const text = `${holders.join(' and ')} must not set AppArmor profile type to ${values.join(', ')}`
  return violation(
    `forbidden AppArmor profile${values.length > 1 ? 's' : ''}`,
    values.length === 0 ? '' : text,
  )
}

function isAllowedAppArmor(value: string): boolean {
  return value === '' || value === 'runtime/default' || value.startsWith('localhost/')
}

export function baselineCapabilities({ containers }: JudgedPod): Violation | undefined {
  return violation('non-default capabilities', addedCapabilities(containers, BASELINE_CAPABILITIES))
}

export function addedCapabilities(
  containers: readonly Stored[],
  allowed: ReadonlySet<string>,
): string {
  const capabilities = new Set<string>()
  const names = namesWhere(containers, (context) => {
    const bad = (context?.['capabilities']?.add ?? []).filter((name: string) => !allowed.has(name))
    for (const name of bad) capabilities.add(name)
    return bad.length > 0
  })
  if (names.length === 0) return ''
  return `${labelled('container', names)} must not include ${quoted([...capabilities].toSorted())} in securityContext.capabilities.add`
}

export function hostNamespaces({ spec }: JudgedPod): Violation | undefined {
  const set = ['hostNetwork', 'hostPID', 'hostIPC'].filter((field) => spec[field] === true)
  return violation('host namespaces', set.map((field) => `${field}=true`).join(', '))
}

export function hostPathVolumes({ spec }: JudgedPod): Violation | undefined {
  const names = (spec['volumes'] ?? [])
    .filter((volume: Stored) => volume['hostPath'] !== undefined)
    .map((volume: Stored) => volume['name'])
  return violation('hostPath volumes', names.length === 0 ? '' : labelled('volume', names))
}

export function hostPorts({ containers }: JudgedPod): Violation | undefined {
  const ports = new Set<number>()
  const names: string[] = []
  for (const container of containers) {
    const own = (container['ports'] ?? [])
      .map((port: Stored) => port['hostPort'] ?? 0)
      .filter((port: number) => port !== 0)
    if (own.length > 0) names.push(container['name'])
    for (const port of own) ports.add(port)
  }
  if (names.length === 0) return undefined
  const list = [...ports].map(String).toSorted().join(', ')
  const verb = names.length > 1 ? 'use' : 'uses'
  return violation(
    'hostPort',
    `${labelled('container', names)} ${verb} hostPort${ports.size > 1 ? 's' : ''} ${list}`,
  )
}

export function privileged({ containers }: JudgedPod): Violation | undefined {
  return forContainers(
    containers,
    'privileged',
    'must not set securityContext.privileged=true',
    (context) => context?.['privileged'] === true,
  )
}

export function procMount(pod: JudgedPod): Violation | undefined {
  return hasOwnUsers(pod) ? undefined : anyProcMount(pod)
}

/** Whether the pod's users are others than the node's, and the version knows what that means. */
export function hasOwnUsers({ spec, minor }: JudgedPod): boolean {
  return spec['hostUsers'] === false && minor >= USER_NAMESPACES_SINCE
}

export function anyProcMount({ containers }: JudgedPod): Violation | undefined {
  const isBad = (context: Stored | undefined): boolean =>
    (context?.['procMount'] ?? 'Default') !== 'Default'
  const types = containers
    .map(({ securityContext }) => securityContext?.procMount)
    .filter((type) => (type ?? 'Default') !== 'Default')
  const text = `must not set securityContext.procMount to ${quoted([...new Set(types as string[])].toSorted())}`
  return forContainers(containers, 'procMount', text, isBad)
}

export function seLinuxOptions({ spec, containers, minor }: JudgedPod): Violation | undefined {
  const isKnown = (type: string): boolean =>
    SELINUX_TYPES.has(type) || (type === ENGINE_TYPE && minor >= ENGINE_TYPE_SINCE)
  const types = new Set<string>()
  let hasUser = false
  let hasRole = false
  const isBad = (context: Stored | undefined): boolean => {
    const { type = '', user = '', role = '' } = context?.['seLinuxOptions'] ?? {}
    if (!isKnown(type)) types.add(type)
    hasUser ||= user !== ''
    hasRole ||= role !== ''
    return !isKnown(type) || user !== '' || role !== ''
  }
  const setters = podAndContainers(isBad(spec['securityContext']), namesWhere(containers, isBad))
  if (setters === '') return undefined
  const parts: string[] = []
  if (types.size > 0)
    parts.push(`type${types.size > 1 ? 's' : ''} ${quoted([...types].toSorted())}`)
  if (hasUser) parts.push('user may not be set')
  if (hasRole) parts.push('role may not be set')
  return violation(
    'seLinuxOptions',
    `${setters} set forbidden securityContext.seLinuxOptions: ${parts.join('; ')}`,
  )
}

export function baselineSeccomp({ spec, containers }: JudgedPod): Violation | undefined {
  const isBad = (context: Stored | undefined): boolean =>
    context?.['seccompProfile']?.type === 'Unconfined'
  const setters = podAndContainers(isBad(spec['securityContext']), namesWhere(containers, isBad))
  return violation(
    'seccompProfile',
    setters === ''
      ? ''
      : `${setters} must not set securityContext.seccompProfile.type to "Unconfined"`,
  )
}

export function sysctls({ spec, minor }: JudgedPod): Violation | undefined {
  const names = (spec['securityContext']?.sysctls ?? [])
    .map((entry: Stored) => entry['name'])
    .filter((name: string) => !SAFE_SYSCTLS.has(name) || minor < (SYSCTLS_SINCE[name] ?? 0))
  return violation('forbidden sysctls', names.join(', '))
}

export function windowsHostProcess({ spec, containers }: JudgedPod): Violation | undefined {
  const isBad = (context: Stored | undefined): boolean =>
    context?.['windowsOptions']?.hostProcess === true
  const setters = podAndContainers(isBad(spec['securityContext']), namesWhere(containers, isBad))
  return violation(
    'hostProcess',
    setters === '' ? '' : `${setters} must not set securityContext.windowsOptions.hostProcess=true`,
  )
}

/** Before version 1.19 profiles stood in annotations. */
export function annotatedSeccomp({ metadata, containers }: JudgedPod): Violation | undefined {
  const annotations: Readonly<Record<string, string>> = metadata['annotations'] ?? {}
  const keys = [
    POD_SECCOMP_ANNOTATION,
    ...containers.map(({ name }) => `${CONTAINER_SECCOMP_ANNOTATION}${name}`),
  ]
  const bad = keys.filter((key) => annotations[key] !== undefined && !isProfile(annotations[key]))
  const told = bad.map((key) => `${key}=${JSON.stringify(annotations[key])}`).toSorted()
  return violation(
    'seccompProfile',
    bad.length === 0 ? '' : `forbidden annotation${bad.length > 1 ? 's' : ''} ${told.join(', ')}`,
  )
}

function isProfile(value: string): boolean {
  return value === 'runtime/default' || value === 'docker/default' || value.startsWith('localhost/')
}

const PROBES = ['livenessProbe', 'readinessProbe', 'startupProbe'] as const
const HOOKS = ['postStart', 'preStop'] as const

/** Whatever they name, and be it the node itself: a kubelet would ask it. */
export function askedHosts({ containers }: JudgedPod): Violation | undefined {
  const hosts = new Set<string>()
  const names: string[] = []
  for (const container of containers) {
    const handlers = [
      ...PROBES.map((field) => container[field]),
      ...HOOKS.map((field) => container['lifecycle']?.[field]),
    ]
    const own = handlers
      .flatMap((handler) => [handler?.httpGet?.host, handler?.tcpSocket?.host])
      .filter((host) => (host ?? '') !== '')
    if (own.length > 0) names.push(container['name'])
    for (const host of own) hosts.add(host)
  }
  if (names.length === 0) return undefined
  const verb = names.length > 1 ? 'use' : 'uses'
  return violation(
    'probe or lifecycle host',
    `${labelled('container', names)} ${verb} probe or lifecycle ${labelled('host', [...hosts].toSorted())}`,
  )
}

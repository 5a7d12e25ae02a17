/**
 * The Pod Security Standards of the latest version: what `baseline` forbids and what `restricted` asks for besides.
 * Each check answers nothing, or its reason and what in the pod it is about.
 */
import { SAFE_SYSCTLS } from '@gyropilot/api'
import type { Stored } from '../../registry/kind-rules.ts'

interface Violation {
  readonly reason: string
  readonly detail: string
}

type Check = (pod: Pod) => Violation | undefined

interface Pod {
  readonly metadata: Stored
  readonly spec: Stored
  readonly containers: readonly Stored[]
}

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
const SELINUX_TYPES = new Set([
  '',
  'container_t',
  'container_init_t',
  'container_kvm_t',
  'container_engine_t',
])
const RESTRICTED_VOLUME_TYPES = new Set([
  'configMap',
  'csi',
  'downwardAPI',
  'emptyDir',
  'ephemeral',
  'persistentVolumeClaim',
  'projected',
  'secret',
])
const APPARMOR_ANNOTATION = 'container.apparmor.security.beta.kubernetes.io/'

/** In the order in which violations are listed. */
const BASELINE: readonly { readonly check: Check; readonly replacedInRestricted?: boolean }[] = [
  { check: appArmorProfile },
  { check: baselineCapabilities, replacedInRestricted: true },
  { check: hostNamespaces },
  { check: hostPathVolumes, replacedInRestricted: true },
  { check: hostPorts },
  { check: privileged },
  { check: procMount },
  { check: seLinuxOptions },
  { check: baselineSeccomp, replacedInRestricted: true },
  { check: sysctls },
  { check: windowsHostProcess },
]
const RESTRICTED: readonly Check[] = [
  allowPrivilegeEscalation,
  restrictedCapabilities,
  restrictedVolumes,
  runAsNonRoot,
  runAsUser,
  restrictedSeccomp,
]

export type Level = 'privileged' | 'baseline' | 'restricted'

export function violationsOf(level: Level, metadata: Stored, spec: Stored): Violation[] {
  if (level === 'privileged') return []
  const { initContainers = [], containers = [], ephemeralContainers = [] } = spec
  const pod: Pod = {
    metadata,
    spec,
    containers: [...initContainers, ...containers, ...ephemeralContainers],
  }
  const isRestricted = level === 'restricted'
  const checks = BASELINE.filter(
    (entry) => !isRestricted || entry.replacedInRestricted !== true,
  ).map(({ check }) => check)
  if (isRestricted) checks.push(...RESTRICTED)
  return checks.map((check) => check(pod)).filter((violation) => violation !== undefined)
}

/** `privileged (container "a" must not set securityContext.privileged=true), ...` */
export function describeViolations(violations: readonly Violation[]): string {
  return violations
    .map(({ reason, detail }) => (detail === '' ? reason : `${reason} (${detail})`))
    .join(', ')
}

function appArmorProfile({ metadata, spec, containers }: Pod): Violation | undefined {
  const isBad = (context: Stored | undefined): boolean =>
    context?.['appArmorProfile']?.type === 'Unconfined'
  const details: string[] = []
  const setters = podAndContainers(isBad(spec['securityContext']), namesWhere(containers, isBad))
  if (setters !== '') details.push(`${setters} must not set AppArmor profile type to "Unconfined"`)
  const annotations = Object.entries((metadata['annotations'] ?? {}) as Record<string, string>)
  const bad = annotations.filter(
    ([key, value]) => key.startsWith(APPARMOR_ANNOTATION) && !isAllowedAppArmor(value),
  )
  if (bad.length > 0)
    details.push(
      bad
        .map(([key, value]) => `${key}=${JSON.stringify(value)}`)
        .toSorted()
        .join(', '),
    )
  const count = bad.length + (setters === '' ? 0 : 1)
  return violation(`forbidden AppArmor profile${count > 1 ? 's' : ''}`, details.join(', '))
}

function isAllowedAppArmor(value: string): boolean {
  return value === '' || value === 'runtime/default' || value.startsWith('localhost/')
}

function baselineCapabilities({ containers }: Pod): Violation | undefined {
  return violation('non-default capabilities', addedCapabilities(containers, BASELINE_CAPABILITIES))
}

function addedCapabilities(containers: readonly Stored[], allowed: ReadonlySet<string>): string {
  const capabilities = new Set<string>()
  const names = namesWhere(containers, (context) => {
    const bad = (context?.['capabilities']?.add ?? []).filter((name: string) => !allowed.has(name))
    for (const name of bad) capabilities.add(name)
    return bad.length > 0
  })
  if (names.length === 0) return ''
  return `${labelled('container', names)} must not include ${quoted([...capabilities].toSorted())} in securityContext.capabilities.add`
}

function hostNamespaces({ spec }: Pod): Violation | undefined {
  const set = ['hostNetwork', 'hostPID', 'hostIPC'].filter((field) => spec[field] === true)
  return violation('host namespaces', set.map((field) => `${field}=true`).join(', '))
}

function hostPathVolumes({ spec }: Pod): Violation | undefined {
  const names = (spec['volumes'] ?? [])
    .filter((volume: Stored) => volume['hostPath'] !== undefined)
    .map((volume: Stored) => volume['name'])
  return violation('hostPath volumes', names.length === 0 ? '' : labelled('volume', names))
}

function hostPorts({ containers }: Pod): Violation | undefined {
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

function privileged({ containers }: Pod): Violation | undefined {
  return forContainers(
    containers,
    'privileged',
    'must not set securityContext.privileged=true',
    (context) => context?.['privileged'] === true,
  )
}

function procMount({ containers }: Pod): Violation | undefined {
  const isBad = (context: Stored | undefined): boolean =>
    (context?.['procMount'] ?? 'Default') !== 'Default'
  const types = containers
    .map(({ securityContext }) => securityContext?.procMount)
    .filter((type) => (type ?? 'Default') !== 'Default')
  const text = `must not set securityContext.procMount to ${quoted([...new Set(types as string[])].toSorted())}`
  return forContainers(containers, 'procMount', text, isBad)
}

function seLinuxOptions({ spec, containers }: Pod): Violation | undefined {
  const types = new Set<string>()
  let hasUser = false
  let hasRole = false
  const isBad = (context: Stored | undefined): boolean => {
    const { type = '', user = '', role = '' } = context?.['seLinuxOptions'] ?? {}
    if (!SELINUX_TYPES.has(type)) types.add(type)
    hasUser ||= user !== ''
    hasRole ||= role !== ''
    return !SELINUX_TYPES.has(type) || user !== '' || role !== ''
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

function baselineSeccomp({ spec, containers }: Pod): Violation | undefined {
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

function sysctls({ spec }: Pod): Violation | undefined {
  const names = (spec['securityContext']?.sysctls ?? [])
    .map((entry: Stored) => entry['name'])
    .filter((name: string) => !SAFE_SYSCTLS.has(name))
  return violation('forbidden sysctls', names.join(', '))
}

function windowsHostProcess({ spec, containers }: Pod): Violation | undefined {
  const isBad = (context: Stored | undefined): boolean =>
    context?.['windowsOptions']?.hostProcess === true
  const setters = podAndContainers(isBad(spec['securityContext']), namesWhere(containers, isBad))
  return violation(
    'hostProcess',
    setters === '' ? '' : `${setters} must not set securityContext.windowsOptions.hostProcess=true`,
  )
}

function allowPrivilegeEscalation({ spec, containers }: Pod): Violation | undefined {
  if (isWindows(spec)) return undefined
  const text = 'must set securityContext.allowPrivilegeEscalation=false'
  return forContainers(
    containers,
    'allowPrivilegeEscalation != false',
    text,
    (context) => context?.['allowPrivilegeEscalation'] !== false,
  )
}

function restrictedCapabilities({ spec, containers }: Pod): Violation | undefined {
  if (isWindows(spec)) return undefined
  const details: string[] = []
  const keepers = namesWhere(
    containers,
    (context) => !(context?.['capabilities']?.drop ?? []).includes('ALL'),
  )
  if (keepers.length > 0)
    details.push(
      `${labelled('container', keepers)} must set securityContext.capabilities.drop=["ALL"]`,
    )
  const added = addedCapabilities(containers, new Set(['NET_BIND_SERVICE']))
  if (added !== '') details.push(added)
  return violation('unrestricted capabilities', details.join('; '))
}

function restrictedVolumes({ spec }: Pod): Violation | undefined {
  const names: string[] = []
  const types = new Set<string>()
  for (const volume of (spec['volumes'] ?? []) as Stored[]) {
    const type = Object.keys(volume).find((key) => key !== 'name') ?? 'emptyDir'
    if (RESTRICTED_VOLUME_TYPES.has(type)) continue
    names.push(volume['name'])
    types.add(type)
  }
  if (names.length === 0) return undefined
  const verb = names.length > 1 ? 'use' : 'uses'
  const what = `restricted volume type${types.size > 1 ? 's' : ''} ${quoted([...types].toSorted())}`
  return violation('restricted volume types', `${labelled('volume', names)} ${verb} ${what}`)
}

function runAsNonRoot({ spec, containers }: Pod): Violation | undefined {
  const podValue = spec['securityContext']?.runAsNonRoot
  const details: string[] = []
  const refusing = namesWhere(containers, (context) => context?.['runAsNonRoot'] === false)
  const silent =
    podValue === true
      ? []
      : namesWhere(containers, (context) => context?.['runAsNonRoot'] === undefined)
  const setters = podAndContainers(podValue === false, refusing)
  if (setters !== '') details.push(`${setters} must not set securityContext.runAsNonRoot=false`)
  else if (silent.length > 0)
    details.push(
      `pod or ${labelled('container', silent)} must set securityContext.runAsNonRoot=true`,
    )
  return violation('runAsNonRoot != true', details.join('; '))
}

function runAsUser({ spec, containers }: Pod): Violation | undefined {
  const isRoot = (context: Stored | undefined): boolean => context?.['runAsUser'] === 0
  const setters = podAndContainers(isRoot(spec['securityContext']), namesWhere(containers, isRoot))
  return violation('runAsUser=0', setters === '' ? '' : `${setters} must not set runAsUser=0`)
}

function restrictedSeccomp({ spec, containers }: Pod): Violation | undefined {
  if (isWindows(spec)) return undefined
  const typeOf = (context: Stored | undefined): string | undefined =>
    context?.['seccompProfile']?.type
  const isGood = (type: string | undefined): boolean =>
    type === 'RuntimeDefault' || type === 'Localhost'
  const podType = typeOf(spec['securityContext'])
  const isBad = (type: string | undefined): boolean => type !== undefined && !isGood(type)
  const setters = podAndContainers(
    isBad(podType),
    namesWhere(containers, (context) => isBad(typeOf(context))),
  )
  if (setters !== '')
    return violation(
      'seccompProfile',
      `${setters} must not set securityContext.seccompProfile.type to "Unconfined"`,
    )
  const silent = isGood(podType)
    ? []
    : namesWhere(containers, (context) => typeOf(context) === undefined)
  if (silent.length === 0) return undefined
  const text = `pod or ${labelled('container', silent)} must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"`
  return violation('seccompProfile', text)
}

function isWindows(spec: Stored): boolean {
  return spec['os']?.name === 'windows'
}

function violation(reason: string, detail: string): Violation | undefined {
  return detail === '' ? undefined : { reason, detail }
}

function forContainers(
  containers: readonly Stored[],
  reason: string,
  text: string,
  isBad: (securityContext: Stored | undefined) => boolean,
): Violation | undefined {
  const names = namesWhere(containers, isBad)
  return violation(reason, names.length === 0 ? '' : `${labelled('container', names)} ${text}`)
}

function namesWhere(
  containers: readonly Stored[],
  test: (securityContext: Stored | undefined) => boolean,
): string[] {
  return containers
    .filter((container) => test(container['securityContext']))
    .map((container) => container['name'])
}

/** `pod`, `container "a"`, `pod and containers "a", "b"`, or nothing. */
function podAndContainers(isPod: boolean, names: readonly string[]): string {
  const parts = isPod ? ['pod'] : []
  if (names.length > 0) parts.push(labelled('container', names))
  return parts.join(' and ')
}

function labelled(label: string, names: readonly string[]): string {
  return `${label}${names.length > 1 ? 's' : ''} ${quoted(names)}`
}

function quoted(values: readonly string[]): string {
  return values.map((value) => JSON.stringify(value)).join(', ')
}

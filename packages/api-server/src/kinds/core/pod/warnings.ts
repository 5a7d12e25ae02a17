/** Warnings about pod specs, of pods and templates. Contract: defaulting-and-validation.md, "Warnings on create and update". */
import type {
  Affinity,
  Container,
  ContainerPort,
  EnvVar,
  NodeAffinity,
  ObjectMeta,
  Pod,
  PodAffinityTerm,
  PodSpec,
  PodTemplateSpec,
  Quantity,
  WeightedPodAffinityTerm,
} from '@gyropilot/api'
import type { StoredOf } from '../../../registry/kind-rules.ts'
import { isIntegerQuantity } from '@gyropilot/api'
import { canonicalIpWarnings } from '@gyropilot/schema/validation/ip'
import { dnsLabel, labelValue } from '@gyropilot/schema/validation/names'
import {
  APPARMOR_CONTAINER,
  appArmorWarning,
  SECCOMP_CONTAINER,
  SECCOMP_POD,
  visitContainers,
} from './annotations.ts'
import type { Visited } from './annotations.ts'
import {
  nodeLabelDeprecation,
  nodeLabelWarnings,
  nodeTermWarnings,
} from '../node-label-warnings.ts'
import { volumeWarnings } from './volume-warnings.ts'

function nodeAffinityWarnings(
  affinity: StoredOf<NodeAffinity> | undefined,
  field: string,
): string[] {
  const required = 'requiredDuringSchedulingIgnoredDuringExecution'
  const preferred = 'preferredDuringSchedulingIgnoredDuringExecution'
  return [
    ...(affinity?.[required]?.nodeSelectorTerms ?? []).flatMap((term, index) =>
      nodeTermWarnings(term, `${field}.${required}.nodeSelectorTerms[${index}]`),
    ),
    ...(affinity?.[preferred] ?? []).flatMap(({ preference }, index) =>
      nodeTermWarnings(preference, `${field}.${preferred}[${index}].preference`, labelValue),
    ),
  ]
}

export function podNameWarnings(object: StoredOf<Pod>): string[] {
  const messages = dnsLabel(object.metadata?.name ?? '')
  if (messages.length === 0) return []
  return [
    `metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended: [${messages.join(' ')}]`,
  ]
}

interface Named {
  readonly metadata?: StoredOf<ObjectMeta>
}

/** Who changes a label is not warned of the template again. */
export function isSpecifiedAnew(object: Named, stored: Named | undefined): boolean {
  return stored === undefined || object.metadata?.generation !== stored.metadata?.generation
}

/** Workloads whose names become part of pod names; of what is there already nobody is warned. */
export function workloadNameWarnings(object: Named, stored: Named | undefined): string[] {
  if (stored !== undefined) return []
  const messages = dnsLabel(object.metadata?.name ?? '')
  if (messages.length === 0) return []
  return [
    `metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; a DNS label is recommended: [${messages.join(' ')}]`,
  ]
}

/** Of the template of a workload. */
export function podTemplateWarnings(template: StoredOf<PodTemplateSpec> | undefined): string[] {
  return podSpecWarnings(template?.spec ?? {}, template?.metadata, 'spec.template.spec')
}

export function podSpecWarnings(
  spec: StoredOf<PodSpec>,
  metadata: StoredOf<ObjectMeta> | undefined,
  field: string,
): string[] {
  const warnings = [
    ...nodeLabelWarnings(spec.nodeSelector, (key) => `${field}.nodeSelector[${key}]`),
    ...nodeAffinityWarnings(spec.affinity?.nodeAffinity, `${field}.affinity.nodeAffinity`),
  ]
  for (const [index, constraint] of (spec.topologySpreadConstraints ?? []).entries()) {
    const at = `${field}.topologySpreadConstraints[${index}]`
    const { topologyKey = '' } = constraint
    const why = nodeLabelDeprecation(topologyKey)
    if (why !== undefined) warnings.push(`${at}.topologyKey: ${topologyKey} is ${why}`)
    if (!constraint.labelSelector)
      warnings.push(`${at}.labelSelector: a null labelSelector results in matching no pod`)
  }
  const annotations = metadata?.annotations ?? {}
  const annotated = `${field === 'spec' ? '' : field.replace(/spec$/, '')}metadata.annotations`
  for (const [key, why] of Object.entries(WITHOUT_FUNCTION))
    if (annotations[key] !== undefined)
      warnings.push(`${annotated}[${key}]: non-functional in ${why} field instead`)
  warnings.push(
    ...volumeWarnings(spec, field),
    ...aliasWarnings(spec, field),
    ...imageSecretWarnings(spec, field),
    ...IN_BYTES.flatMap((name) => fractionWarnings(spec.overhead, name, `${field}.overhead`)),
  )
  if (annotations[SECCOMP_POD] !== undefined && !spec.securityContext?.seccompProfile)
    warnings.push(seccompWarning(`${annotated}[${SECCOMP_POD}]`))
  const isTemplate = field !== 'spec'
  const containers = visitContainers(spec, field)
  for (const { container, field: at } of containers) {
    const seccomp = `${SECCOMP_CONTAINER}${container.name}`
    if (annotations[seccomp] !== undefined && !container.securityContext?.seccompProfile)
      warnings.push(seccompWarning(`${annotated}[${seccomp}]`))
    const appArmor = `${APPARMOR_CONTAINER}${container.name}`
    const profile =
      container.securityContext?.appArmorProfile ?? spec.securityContext?.appArmorProfile
    if (isTemplate && annotations[appArmor] !== undefined && !profile)
      warnings.push(appArmorWarning(`${annotated}[${appArmor}]`))
    warnings.push(...containerWarnings(container, at))
  }
  warnings.push(...portWarnings(containers), ...portNameWarnings(containers))
  if ((spec.terminationGracePeriodSeconds ?? 0) < 0) {
    warnings.push(
      `${field}.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1`,
    )
  }
  return [
    ...warnings,
    ...affinityWarnings(spec.affinity, `${field}.affinity`),
    ...addressWarnings(spec, field),
  ]
}

/** Annotations that have become fields. */
const WITHOUT_FUNCTION: Readonly<Record<string, string>> = {
  'scheduler.alpha.kubernetes.io/critical-pod': 'v1.16+; use the "priorityClassName"',
  'security.alpha.kubernetes.io/sysctls': 'v1.11+; use the "sysctls"',
  'security.alpha.kubernetes.io/unsafe-sysctls': 'v1.11+; use the "sysctls"',
}

function seccompWarning(at: string): string {
  return `${at}: non-functional in v1.27+; use the "seccompProfile" field instead`
}

/** All that is there twice comes before what has no name. */
function imageSecretWarnings(spec: StoredOf<PodSpec>, field: string): string[] {
  const twice: string[] = []
  const empty: string[] = []
  const seen = new Set<string>()
  for (const [index, { name = '' }] of (spec.imagePullSecrets ?? []).entries()) {
    const at = `${field}.imagePullSecrets[${index}].name`
    if (name === '') empty.push(`${at}: invalid empty name ${JSON.stringify(name)}`)
    if (seen.has(name)) twice.push(`${at}: duplicate name ${JSON.stringify(name)}`)
    seen.add(name)
  }
  return [...twice, ...empty]
}

function aliasWarnings(spec: StoredOf<PodSpec>, field: string): string[] {
  const warnings: string[] = []
  const seen = new Set<string>()
  for (const [index, { ip = '' }] of (spec.hostAliases ?? []).entries()) {
    if (seen.has(ip))
      warnings.push(`${field}.hostAliases[${index}].ip: duplicate ip ${JSON.stringify(ip)}`)
    seen.add(ip)
  }
  return warnings
}

function addressWarnings(spec: StoredOf<PodSpec>, field: string): string[] {
  const servers = (spec.dnsConfig?.nameservers ?? []).map((ip, index) =>
    canonicalIpWarnings(ip, `${field}.dnsConfig.nameservers[${index}]`),
  )
  const aliases = (spec.hostAliases ?? []).map(({ ip = '' }, index) =>
    canonicalIpWarnings(ip, `${field}.hostAliases[${index}].ip`),
  )
  return [...servers, ...aliases].flat()
}

const IN_BYTES = ['memory', 'ephemeral-storage']

function fractionWarnings(
  amounts: Readonly<Record<string, Quantity>> | undefined,
  name: string,
  at: string,
): string[] {
  const amount = amounts?.[name]
  if (amount === undefined || isIntegerQuantity(amount)) return []
  return [
    `${at}[${name}]: fractional byte value ${JSON.stringify(amount)} is invalid, must be an integer`,
  ]
}

function containerWarnings(container: StoredOf<Container>, field: string): string[] {
  const { limits, requests } = container.resources ?? {}
  const warnings = IN_BYTES.flatMap((name) => [
    ...fractionWarnings(limits, name, `${field}.resources.limits`),
    ...fractionWarnings(requests, name, `${field}.resources.requests`),
  ])
  const values = new Set<string>()
  for (const [index, variable] of (container.env ?? []).entries()) {
    const { name = '' } = variable
    if (values.has(name) && !extendsItself(variable))
      warnings.push(
        `${field}.env[${index}]: hides previous definition of ${JSON.stringify(name)}, which may be dropped when using apply`,
      )
    values.add(name)
  }
  return warnings
}

/** Its value has more in it than what it had before, which nothing hides then. */
function extendsItself({ name = '', value = '', valueFrom }: StoredOf<EnvVar>): boolean {
  const before = `$(${name})`
  return valueFrom === undefined && value !== before && value.includes(before)
}

function portWarnings(containers: readonly Visited[]): string[] {
  const warnings: string[] = []
  const seen = new Map<string, { readonly at: string; readonly port: StoredOf<ContainerPort> }[]>()
  for (const { container, field } of containers) {
    for (const [position, port] of (container.ports ?? []).entries()) {
      const at = `${field}.ports[${position}]`
      if (port.hostIP && !port.hostPort)
        warnings.push(`${at}: hostIP set without hostPort: ${printedPort(port)}`)
      const key = `${port.containerPort}/${port.protocol ?? 'TCP'}`
      const others = seen.get(key) ?? []
      for (const other of others) {
        const how = clashOf(port, other.port)
        if (how !== undefined) warnings.push(`${at}: ${how} port definition with ${other.at}`)
      }
      seen.set(key, [...others, { at, port }])
    }
  }
  return warnings
}

/** Of two definitions of one port of the pod. */
function clashOf(a: StoredOf<ContainerPort>, b: StoredOf<ContainerPort>): string | undefined {
  const { hostPort = 0, hostIP = '' } = a
  const { hostPort: otherPort = 0, hostIP: otherIP = '' } = b
  if (hostPort === otherPort && hostIP === otherIP) return 'duplicate'
  if (hostPort === 0 || otherPort === 0) return 'overlapping'
  const oneIsAny = (hostIP === '') !== (otherIP === '')
  return hostPort === otherPort && oneIsAny ? 'dangerously ambiguous' : undefined
}

/** Within a container names are told apart; within a pod the first is meant. */
function portNameWarnings(containers: readonly Visited[]): string[] {
  const warnings: string[] = []
  const seen = new Map<string, string>()
  for (const { container, field } of containers) {
    for (const [position, { name }] of (container.ports ?? []).entries()) {
      if (!name) continue
      const at = `${field}.ports[${position}]`
      const first = seen.get(name)
      if (first === undefined) seen.set(name, at)
      else
        warnings.push(
          `${at}: duplicate port name ${JSON.stringify(name)} with ${first}, services and probes that select ports by name will use ${first}`,
        )
    }
  }
  return warnings
}

/** As Go prints a struct. */
function printedPort(port: StoredOf<ContainerPort>): string {
  const { name, hostPort, containerPort, protocol, hostIP } = port
  return `{Name:${name ?? ''} HostPort:${hostPort ?? 0} ContainerPort:${containerPort} Protocol:${protocol ?? ''} HostIP:${hostIP ?? ''}}`
}

function affinityWarnings(affinity: StoredOf<Affinity> | undefined, field: string): string[] {
  const warnings: string[] = []
  for (const kind of ['podAffinity', 'podAntiAffinity'] as const) {
    for (const list of [
      'requiredDuringSchedulingIgnoredDuringExecution',
      'preferredDuringSchedulingIgnoredDuringExecution',
    ] as const) {
      for (const [index, entry] of (affinity?.[kind]?.[list] ?? []).entries()) {
        const preferred = list.startsWith('preferred')
        const term: StoredOf<PodAffinityTerm> = preferred
          ? ((entry as StoredOf<WeightedPodAffinityTerm>).podAffinityTerm ?? {})
          : (entry as StoredOf<PodAffinityTerm>)
        const at = `${field}.${kind}.${list}[${index}]${preferred ? '.podAffinityTerm' : ''}`
        if (!term.labelSelector)
          warnings.push(`${at}.labelSelector: a null labelSelector results in matching no pod`)
      }
    }
  }
  return warnings
}

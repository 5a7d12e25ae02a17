/** Warnings about pod specs, of pods and templates. Contract: defaulting-and-validation.md, "Warnings on create and update". */
import type {
  Affinity,
  Container,
  ContainerPort,
  ObjectMeta,
  Pod,
  PodAffinityTerm,
  PodSpec,
  PodTemplateSpec,
  Volume,
  WeightedPodAffinityTerm,
} from '@gyropilot/api'
import type { StoredOf } from '../../../registry/kind-rules.ts'
import { isIntegerQuantity } from '@gyropilot/api'
import { canonicalIpWarnings } from '@gyropilot/schema/validation/ip'
import { dnsLabel } from '@gyropilot/schema/validation/names'
import { claimSpecWarnings } from '../persistent-volume-claim-spec.ts'

const DEPRECATED_NODE_LABELS: Readonly<Record<string, string>> = {
  'beta.kubernetes.io/arch': 'deprecated since v1.14; use "kubernetes.io/arch" instead',
  'beta.kubernetes.io/os': 'deprecated since v1.14; use "kubernetes.io/os" instead',
  'failure-domain.beta.kubernetes.io/region':
    'deprecated since v1.17; use "topology.kubernetes.io/region" instead',
  'failure-domain.beta.kubernetes.io/zone':
    'deprecated since v1.17; use "topology.kubernetes.io/zone" instead',
  'beta.kubernetes.io/instance-type':
    'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead',
}

/** What is said of a source of a volume that nothing serves any more. */
const DEPRECATED_VOLUMES: Partial<Readonly<Record<keyof Volume, string>>> = {
  gitRepo: 'deprecated in v1.11, and disabled by default in v1.33+',
  photonPersistentDisk: 'deprecated in v1.11, non-functional in v1.16+',
  scaleIO: 'deprecated in v1.16, non-functional in v1.22+',
  flocker: 'deprecated in v1.22, non-functional in v1.25+',
  storageos: 'deprecated in v1.22, non-functional in v1.25+',
  quobyte: 'deprecated in v1.22, non-functional in v1.25+',
  glusterfs: 'deprecated in v1.25, non-functional in v1.26+',
  cephfs: 'deprecated in v1.28, non-functional in v1.31+',
  rbd: 'deprecated in v1.28, non-functional in v1.31+',
}

/** At the place in the object. One name is not spelled as the field is. */
export function deprecatedVolumeWarning(source: keyof Volume, at: string): string {
  return `${at}.${source === 'storageos' ? 'storageOS' : source}: ${DEPRECATED_VOLUMES[source]}`
}

function deprecatedNodeLabelWarnings(
  labels: Readonly<Record<string, string>> | undefined,
  field: string,
): string[] {
  return Object.keys(labels ?? {})
    .toSorted()
    .filter((key) => DEPRECATED_NODE_LABELS[key] !== undefined)
    .map((key) => `${field}[${key}]: ${DEPRECATED_NODE_LABELS[key]}`)
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
  const warnings = deprecatedNodeLabelWarnings(spec.nodeSelector, `${field}.nodeSelector`)
  for (const [index, constraint] of (spec.topologySpreadConstraints ?? []).entries()) {
    const at = `${field}.topologySpreadConstraints[${index}]`
    const { topologyKey = '' } = constraint
    if (DEPRECATED_NODE_LABELS[topologyKey])
      warnings.push(`${at}.topologyKey: ${topologyKey} is ${DEPRECATED_NODE_LABELS[topologyKey]}`)
    if (!constraint.labelSelector)
      warnings.push(`${at}.labelSelector: a null labelSelector results in matching no pod`)
  }
  for (const key of Object.keys(metadata?.annotations ?? {}).toSorted()) {
    const text = annotationWarning(key)
    if (text)
      warnings.push(
        `${field === 'spec' ? '' : field.replace(/spec$/, '')}metadata.annotations[${key}]: ${text}`,
      )
  }
  warnings.push(
    ...volumeWarnings(spec, field),
    ...aliasWarnings(spec, field),
    ...imageSecretWarnings(spec, field),
  )
  for (const list of ['initContainers', 'containers'] as const) {
    for (const [index, container] of (spec[list] ?? []).entries())
      warnings.push(...containerWarnings(container, `${field}.${list}[${index}]`))
  }
  warnings.push(...portWarnings(spec, field))
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

function annotationWarning(key: string): string | undefined {
  if (key === 'seccomp.security.alpha.kubernetes.io/pod')
    return 'non-functional in v1.27+; use the "seccompProfile" field instead'
  if (key.startsWith('container.seccomp.security.alpha.kubernetes.io/'))
    return 'non-functional in v1.27+; use the "seccompProfile" field instead'
  if (key.startsWith('container.apparmor.security.beta.kubernetes.io/'))
    return 'deprecated since v1.30; use the "appArmorProfile" field instead'
  if (key === 'scheduler.alpha.kubernetes.io/critical-pod')
    return 'non-functional in v1.16+; use the "priorityClassName" field instead'
  return undefined
}

/** All that is there twice comes before what has no name. */
function imageSecretWarnings(spec: StoredOf<PodSpec>, field: string): string[] {
  const twice: string[] = []
  const empty: string[] = []
  const seen = new Set<string>()
  for (const [index, { name = '' }] of (spec.imagePullSecrets ?? []).entries()) {
    const at = `${field}.imagePullSecrets[${index}].name`
    if (name === '') empty.push(`${at}: invalid empty name ${JSON.stringify(name)}`)
    else if (seen.has(name)) twice.push(`${at}: duplicate name ${JSON.stringify(name)}`)
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

function volumeWarnings(spec: StoredOf<PodSpec>, field: string): string[] {
  const warnings: string[] = []
  for (const [index, volume] of (spec.volumes ?? []).entries()) {
    for (const source of Object.keys(DEPRECATED_VOLUMES) as (keyof Volume)[])
      if (volume[source])
        warnings.push(deprecatedVolumeWarning(source, `${field}.volumes[${index}]`))
    const { spec: claim } = volume.ephemeral?.volumeClaimTemplate ?? {}
    const at = `${field}.volumes[${index}].ephemeral.volumeClaimTemplate.spec`
    warnings.push(...claimSpecWarnings(claim, at))
  }
  return warnings
}

function containerWarnings(container: StoredOf<Container>, field: string): string[] {
  const warnings: string[] = []
  for (const list of ['limits', 'requests'] as const) {
    for (const name of ['memory', 'ephemeral-storage']) {
      const quantity = container.resources?.[list]?.[name]
      if (quantity !== undefined && !isIntegerQuantity(quantity)) {
        warnings.push(
          `${field}.resources.${list}[${name}]: fractional byte value ${JSON.stringify(quantity)} is invalid, must be an integer`,
        )
      }
    }
  }
  const values = new Set<string>()
  for (const [index, { name = '' }] of (container.env ?? []).entries()) {
    if (values.has(name))
      warnings.push(
        `${field}.env[${index}]: hides previous definition of ${JSON.stringify(name)}, which may be dropped when using apply`,
      )
    values.add(name)
  }
  return warnings
}

function portWarnings(spec: StoredOf<PodSpec>, field: string): string[] {
  const warnings: string[] = []
  const seen = new Map<string, string>()
  for (const list of ['containers', 'initContainers'] as const) {
    for (const [index, container] of (spec[list] ?? []).entries()) {
      if (list === 'initContainers' && container.restartPolicy !== 'Always') continue
      for (const [position, port] of (container.ports ?? []).entries()) {
        const at = `${field}.${list}[${index}].ports[${position}]`
        const key = `${port.containerPort}/${port.protocol ?? 'TCP'}/${port.hostPort ?? 0}/${port.hostIP ?? ''}`
        const first = seen.get(key)
        if (first !== undefined) warnings.push(`${at}: duplicate port definition with ${first}`)
        else seen.set(key, at)
        if (port.hostIP && !port.hostPort)
          warnings.push(`${at}: hostIP set without hostPort: ${printedPort(port)}`)
      }
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

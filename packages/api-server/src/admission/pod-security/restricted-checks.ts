/** What the level `restricted` asks for beyond `baseline`. */
import type { Stored } from '../../registry/kind-rules.ts'
import { addedCapabilities, hasOwnUsers } from './baseline-checks.ts'
import {
  forContainers,
  labelled,
  namesWhere,
  podAndContainers,
  quoted,
  violation,
} from './violations.ts'
import type { JudgedPod, Violation } from './violations.ts'

const WINDOWS_SINCE = 25
const RESTRICTED_VOLUME_TYPES = new Set([
  'configMap',
  'csi',
  'downwardAPI',
  'emptyDir',
  'ephemeral',
  'image',
  'persistentVolumeClaim',
  'projected',
  'secret',
])

export function allowPrivilegeEscalation({
  spec,
  containers,
  minor,
}: JudgedPod): Violation | undefined {
  if (isExempt(spec, minor)) return undefined
  const text = 'must set securityContext.allowPrivilegeEscalation=false'
  return forContainers(
    containers,
    'allowPrivilegeEscalation != false',
    text,
    (context) => context?.['allowPrivilegeEscalation'] !== false,
  )
}

export function restrictedCapabilities({
  spec,
  containers,
  minor,
}: JudgedPod): Violation | undefined {
  if (isExempt(spec, minor)) return undefined
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

export function restrictedVolumes({ spec }: JudgedPod): Violation | undefined {
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

export function runAsNonRoot(pod: JudgedPod): Violation | undefined {
  if (hasOwnUsers(pod)) return undefined
  const { spec, containers } = pod
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

export function runAsUser(pod: JudgedPod): Violation | undefined {
  if (hasOwnUsers(pod)) return undefined
  const { spec, containers } = pod
  const isRoot = (context: Stored | undefined): boolean => context?.['runAsUser'] === 0
  const setters = podAndContainers(isRoot(spec['securityContext']), namesWhere(containers, isRoot))
  return violation('runAsUser=0', setters === '' ? '' : `${setters} must not set runAsUser=0`)
}

export function restrictedSeccomp({ spec, containers, minor }: JudgedPod): Violation | undefined {
  if (isExempt(spec, minor)) return undefined
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

/** Newer versions ask nothing of Windows that it does not have. */
function isExempt(spec: Stored, minor: number): boolean {
  return spec['os']?.name === 'windows' && minor >= WINDOWS_SINCE
}

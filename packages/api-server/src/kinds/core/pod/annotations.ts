/** Annotations that mean something to pods: mirror pods, deletion cost, and the profiles that came before their fields. */
import type { Container, Pod, PodSpec, SeccompProfile } from '@gyropilot/api'
import type { DraftOf, StoredOf } from '../../../registry/kind-rules.ts'
import type { FieldErrors } from '@gyropilot/schema/field-errors'
import { sortedKeys } from '@gyropilot/schema/validation/labels'
import { validateDescendingPath } from './volume-sources.ts'

const MIRROR = 'kubernetes.io/config.mirror'
const DELETION_COST = 'controller.kubernetes.io/pod-deletion-cost'
export const SECCOMP_POD = 'seccomp.security.alpha.kubernetes.io/pod'
export const SECCOMP_CONTAINER = 'container.seccomp.security.alpha.kubernetes.io/'
export const APPARMOR_CONTAINER = 'container.apparmor.security.beta.kubernetes.io/'
const LOCALHOST = 'localhost/'

const CONTAINER_LISTS = ['initContainers', 'containers', 'ephemeralContainers'] as const

type Annotations = Readonly<Record<string, string>>

export interface Visited {
  readonly container: DraftOf<Container>
  readonly field: string
}

/** In the order in which kube-apiserver visits them: init containers come first. */
export function visitContainers(spec: StoredOf<PodSpec>, field: string): Visited[] {
  const visited: Visited[] = []
  for (const list of CONTAINER_LISTS) {
    const containers = spec[list]
    if (!containers) continue
    for (let index = 0; index < containers.length; index++)
      visited.push({ container: containers[index]!, field: `${field}.${list}[${index}]` })
  }
  return visited
}

/** Hardly any pod has one. */
function hasProfiles(annotations: Annotations | undefined): annotations is Annotations {
  for (const key in annotations)
    if (
      key === SECCOMP_POD ||
      key.startsWith(SECCOMP_CONTAINER) ||
      key.startsWith(APPARMOR_CONTAINER)
    )
      return true
  return false
}

/** A whole number of 32 bits, without a plus sign or leading zeros. */
function isDeletionCost(value: string): boolean {
  if (!/^(?:0|-\d+|[1-9]\d*)$/.test(value)) return false
  return Number(value) >= -(2 ** 31) && Number(value) < 2 ** 31
}

/** A kubelet's picture of a pod that it runs by itself. */
export function isMirrorPod(pod: StoredOf<Pod>): boolean {
  return pod.metadata?.annotations?.[MIRROR] !== undefined
}

/** `field`: where the annotations stand. */
export function validatePodAnnotations(
  annotations: Annotations | undefined,
  spec: StoredOf<PodSpec>,
  errors: FieldErrors,
  field: string,
): void {
  if (annotations === undefined) return
  const mirror = annotations[MIRROR]
  if (mirror !== undefined && !spec.nodeName)
    errors.invalid(
      `${field}[${MIRROR}]`,
      mirror,
      'must set spec.nodeName if mirror pod annotation is set',
    )
  const cost = annotations[DELETION_COST]
  if (cost !== undefined && !isDeletionCost(cost))
    errors.invalid(`${field}[${DELETION_COST}]`, cost, 'must be a 32bit integer')
  if (!hasProfiles(annotations)) return
  const keys = sortedKeys(annotations)
  for (const key of [SECCOMP_POD, ...keys.filter((name) => name.startsWith(SECCOMP_CONTAINER))])
    if (annotations[key] !== undefined) validateSeccomp(annotations[key], errors, `${field}.${key}`)
  const names = new Set(visitContainers(spec, '').map(({ container }) => container.name))
  for (const key of keys) {
    if (!key.startsWith(APPARMOR_CONTAINER)) continue
    const name = key.slice(APPARMOR_CONTAINER.length)
    const profile = annotations[key]!
    if (!names.has(name)) errors.invalid(`${field}[${key}]`, name, 'container not found')
    if (!['', 'runtime/default', 'unconfined'].includes(profile) && !profile.startsWith(LOCALHOST))
      errors.invalid(
        `${field}[${key}]`,
        profile,
        `invalid AppArmor profile name: ${JSON.stringify(profile)}`,
      )
  }
}

/** Mirror pods and AppArmor profiles are settled when a pod is created. All annotations are checked a second time. */
export function validateAnnotationsUpdate(
  object: StoredOf<Pod>,
  stored: StoredOf<Pod>,
  errors: FieldErrors,
): void {
  const field = 'metadata.annotations'
  const now: Annotations = object.metadata?.annotations ?? {}
  const before: Annotations = stored.metadata?.annotations ?? {}
  for (const key of sortedKeys(before))
    if (now[key] !== before[key]) refuseChange(key, 'remove or update', errors, field)
  for (const key of sortedKeys(now))
    if (before[key] === undefined) refuseChange(key, 'add', errors, field)
  validatePodAnnotations(now, object.spec ?? {}, errors, field)
}

function refuseChange(key: string, verb: string, errors: FieldErrors, field: string): void {
  if (key.startsWith(APPARMOR_CONTAINER))
    errors.forbidden(`${field}[${key}]`, `may not ${verb} AppArmor annotations`)
  if (key === MIRROR) errors.forbidden(`${field}[${key}]`, `may not ${verb} mirror pod annotation`)
}

function validateSeccomp(profile: string, errors: FieldErrors, field: string): void {
  if (['runtime/default', 'docker/default', 'unconfined'].includes(profile)) return
  if (profile.startsWith(LOCALHOST))
    validateDescendingPath(profile.slice(LOCALHOST.length), errors, field)
  else errors.invalid(field, profile, 'must be a valid seccomp profile')
}

/** A profile that only an annotation gives to a container becomes the container's own, unless the pod has the same one. */
export function adoptProfileAnnotations(
  annotations: Annotations | undefined,
  spec: DraftOf<PodSpec>,
  warn: (text: string) => void,
): void {
  if (!hasProfiles(annotations) || spec.os?.name === 'windows') return
  for (const { container } of visitContainers(spec, '')) {
    const annotation = annotations[`${APPARMOR_CONTAINER}${container.name}`]
    const profile = annotation === undefined ? undefined : profileOf(annotation)
    if (profile === undefined || container.securityContext?.appArmorProfile) continue
    const inherited = spec.securityContext?.appArmorProfile
    if (
      inherited?.type === profile.type &&
      inherited?.localhostProfile === profile.localhostProfile
    )
      continue
    container.securityContext ??= {}
    container.securityContext.appArmorProfile = profile
    warn(appArmorWarning(`metadata.annotations[${APPARMOR_CONTAINER}${container.name}]`))
  }
}

export function appArmorWarning(at: string): string {
  return `${at}: deprecated since v1.30; use the "appArmorProfile" field instead`
}

function profileOf(annotation: string): StoredOf<SeccompProfile> | undefined {
  if (annotation === 'unconfined') return { type: 'Unconfined' }
  if (annotation === 'runtime/default') return { type: 'RuntimeDefault' }
  const localhostProfile = annotation.slice(LOCALHOST.length)
  return annotation.startsWith(LOCALHOST) && localhostProfile !== ''
    ? { type: 'Localhost', localhostProfile }
    : undefined
}

/** A profile that is given both as a field and as an annotation must be the same one. */
export function validateProfileAnnotations(
  annotations: Annotations | undefined,
  spec: StoredOf<PodSpec>,
  errors: FieldErrors,
  field: string,
): void {
  if (!hasProfiles(annotations)) return
  const context = spec.securityContext
  const containers = visitContainers(spec, field)
  matchProfile('seccomp', annotations[SECCOMP_POD], context?.seccompProfile, errors, field)
  for (const { container, field: at } of containers) {
    const annotation = annotations[`${SECCOMP_CONTAINER}${container.name}`]
    matchProfile('seccomp', annotation, container.securityContext?.seccompProfile, errors, at)
  }
  if (spec.os?.name === 'windows') return
  for (const { container, field: at } of containers) {
    const annotation = annotations[`${APPARMOR_CONTAINER}${container.name}`]
    const profile = container.securityContext?.appArmorProfile ?? context?.appArmorProfile
    matchProfile('apparmor', annotation, profile, errors, at)
  }
}

function matchProfile(
  kind: 'seccomp' | 'apparmor',
  annotation: string | undefined,
  profile: StoredOf<SeccompProfile> | undefined,
  errors: FieldErrors,
  field: string,
): void {
  if (annotation === undefined || !profile) return
  const at = `${field}.securityContext.${kind === 'seccomp' ? 'seccompProfile' : 'appArmorProfile'}`
  const runtime =
    annotation === 'runtime/default' || (kind === 'seccomp' && annotation === 'docker/default')
  const sameType =
    profile.type === 'Unconfined'
      ? annotation === 'unconfined'
      : profile.type === 'RuntimeDefault'
        ? runtime
        : profile.type !== 'Localhost' || annotation.startsWith(LOCALHOST)
  if (!sameType) errors.forbidden(`${at}.type`, `${kind} type in annotation and field must match`)
  else if (
    profile.type === 'Localhost' &&
    annotation.slice(LOCALHOST.length) !== profile.localhostProfile
  )
    errors.forbidden(`${at}.localhostProfile`, `${kind} profile in annotation and field must match`)
}

/** Enforces the Pod Security Standard that a namespace's labels name. Contract: docs/behaviour/api-server/subresources-and-admission.md. */
import { semanticEqual } from '@gyropilot/api'
import type { AdmissionPlugin, AdmissionRequest } from '../../contracts.ts'
import { invalid } from '../../http/errors.ts'
import type { Stored } from '../../registry/kind-rules.ts'
import { FieldErrors } from '@gyropilot/schema/field-errors'
import { isFor, read, readAll, refusal } from '../world.ts'
import type { AdmissionWorld } from '../world.ts'
import { describeViolations, violationsOf } from './checks.ts'
import type { Level, Standard } from './checks.ts'
import { MODES } from './defaults.ts'
import type { PodSecurityDefaults } from './defaults.ts'

/** Labels of namespaces, by mode: written out, as a name that is put together is looked up anew for every pod. */
const LEVEL_LABELS = {
  enforce: 'pod-security.kubernetes.io/enforce',
  audit: 'pod-security.kubernetes.io/audit',
  warn: 'pod-security.kubernetes.io/warn',
} as const
const VERSION_LABELS = {
  enforce: 'pod-security.kubernetes.io/enforce-version',
  audit: 'pod-security.kubernetes.io/audit-version',
  warn: 'pod-security.kubernetes.io/warn-version',
} as const
const LEVELS: readonly string[] = ['privileged', 'baseline', 'restricted']
const VERSION = /^(latest|v1\.(0|[1-9][0-9]*))$/

/** With their groups: a custom resource may have the same plural, and a template of any shape. */
const TEMPLATED = new Set([
  'apps/daemonsets',
  'apps/deployments',
  'apps/replicasets',
  'apps/statefulsets',
  'batch/jobs',
  'batch/cronjobs',
  '/replicationcontrollers',
  '/podtemplates',
])

export function podSecurity(world: AdmissionWorld): AdmissionPlugin {
  return {
    name: 'PodSecurity',
    handles({ operation, resource, subresource }) {
      if (operation !== 'CREATE' && operation !== 'UPDATE') return false
      if (resource.group === '' && resource.resource === 'pods') {
        return subresource === '' || subresource === 'ephemeralcontainers'
      }
      if (subresource !== '') return false
      return (
        (resource.group === '' && resource.resource === 'namespaces') ||
        TEMPLATED.has(`${resource.group}/${resource.resource}`)
      )
    },
    validate(request) {
      if (isFor(request, '', 'namespaces')) checkNamespace(world, request)
      else if (request.resource.resource === 'pods') checkPod(world, request)
      else warnOfTemplate(world, request)
    },
  }
}

function standardOf(
  labels: Readonly<Record<string, string>> | undefined,
  mode: (typeof MODES)[number],
  defaults: PodSecurityDefaults = {},
): Standard {
  const told = labels?.[LEVEL_LABELS[mode]]
  const enforced = labels?.[LEVEL_LABELS.enforce]
  // What is enforced is warned of as well, unless the namespace says what is, or more is warned of by default.
  const follows =
    told === undefined &&
    enforced !== undefined &&
    LEVELS.indexOf(enforced) > LEVELS.indexOf(defaults[mode] ?? 'privileged')
  const level = told ?? (follows ? enforced : defaults[mode])
  const version =
    labels?.[VERSION_LABELS[mode]] ??
    (follows ? labels?.[VERSION_LABELS.enforce] : undefined) ??
    'latest'
  const known = level !== undefined && LEVELS.includes(level)
  // A namespace that got a bad label past us is held to the strictest reading for enforcement.
  const fallback = level !== undefined && mode === 'enforce' ? 'restricted' : 'privileged'
  return {
    level: (known ? level : fallback) as Level,
    version: VERSION.test(version) ? version : 'latest',
  }
}

function labelsOfNamespace(
  world: AdmissionWorld,
  namespace: string,
): Readonly<Record<string, string>> | undefined {
  return read(world, 'namespaces', namespace)?.['metadata'].labels
}

function checkPod(world: AdmissionWorld, request: AdmissionRequest): void {
  const { object, oldObject } = request
  if (oldObject !== undefined && !isSignificant(object!, oldObject)) return
  const labels = labelsOfNamespace(world, request.namespace)
  const enforced = problemOf(
    standardOf(labels, 'enforce', world.podSecurity),
    object!['metadata'],
    object!['spec'],
  )
  if (enforced !== undefined) throw refusal(request, `violates ${enforced}`)
  const warned = problemOf(
    standardOf(labels, 'warn', world.podSecurity),
    object!['metadata'],
    object!['spec'],
  )
  if (warned !== undefined) request.warn(`would violate ${warned}`)
}

/** Updates that cannot change the verdict are not judged again: pods older than the labels live on. */
function isSignificant(pod: Stored, stored: Stored): boolean {
  const relevant = ({ spec }: Stored): unknown => ({
    ...spec,
    activeDeadlineSeconds: undefined,
    tolerations: undefined,
    containers: withoutImages(spec.containers),
    initContainers: withoutImages(spec.initContainers),
  })
  const imagesOf = ({ spec }: Stored): unknown =>
    [...(spec.containers ?? []), ...(spec.initContainers ?? [])].map(({ image }) => image)
  return (
    !semanticEqual(relevant(pod), relevant(stored)) ||
    !semanticEqual(imagesOf(pod), imagesOf(stored))
  )
}

function withoutImages(containers: readonly Stored[] | undefined): unknown {
  return (containers ?? []).map((container) => ({ ...container, image: '' }))
}

function warnOfTemplate(world: AdmissionWorld, request: AdmissionRequest): void {
  const { object } = request
  const template =
    object!['spec']?.jobTemplate?.spec?.template ?? object!['spec']?.template ?? object!['template']
  if (template?.spec === undefined) return
  const labels = labelsOfNamespace(world, request.namespace)
  const standard = standardOf(labels, 'warn', world.podSecurity)
  const problem = problemOf(standard, template.metadata ?? {}, template.spec)
  if (problem !== undefined) request.warn(`would violate ${problem}`)
}

/** `PodSecurity "baseline:latest": privileged (...)`, or nothing. */
function problemOf(standard: Standard, metadata: Stored, spec: Stored): string | undefined {
  const violations = violationsOf(standard, metadata, spec)
  if (violations.length === 0) return undefined
  return `PodSecurity ${JSON.stringify(`${standard.level}:${standard.version}`)}: ${describeViolations(violations)}`
}

function checkNamespace(world: AdmissionWorld, request: AdmissionRequest): void {
  const labels: Record<string, string> = request.object!['metadata'].labels ?? {}
  const before: Record<string, string> = request.oldObject?.['metadata'].labels ?? {}
  const errors = new FieldErrors()
  for (const mode of MODES) {
    const levelLabel = LEVEL_LABELS[mode]
    const level = labels[levelLabel]
    if (level !== undefined && level !== before[levelLabel] && !LEVELS.includes(level)) {
      const known = `must be one of ${LEVELS.join(', ')}`
      errors.invalid(`metadata.labels[${levelLabel}]`, level, known)
    }
    const versionLabel = VERSION_LABELS[mode]
    const version = labels[versionLabel]
    if (version !== undefined && version !== before[versionLabel] && !VERSION.test(version))
      errors.invalid(`metadata.labels[${versionLabel}]`, version, 'must be "latest" or "v1.x"')
  }
  const { name } = request.object!['metadata']
  if (errors.list.length > 0) throw invalid('', 'Namespace', name, errors.list)
  if (request.oldObject !== undefined) warnOfExistingPods(world, request, name)
}

function warnOfExistingPods(
  world: AdmissionWorld,
  request: AdmissionRequest,
  namespace: string,
): void {
  const after = standardOf(request.object!['metadata'].labels, 'enforce', world.podSecurity)
  const before = standardOf(request.oldObject!['metadata'].labels, 'enforce', world.podSecurity)
  // Another version of a level may forbid what the one before allowed, in whichever direction it moves.
  const isOtherVersion = after.version !== before.version && after.level !== 'privileged'
  if (!isOtherVersion && LEVELS.indexOf(after.level) <= LEVELS.indexOf(before.level)) return
  const byProblem = new Map<string, string[]>()
  for (const pod of readAll(world, 'pods', namespace)) {
    const problem = violationsOf(after, pod['metadata'], pod['spec'])
      .map(({ reason }) => reason)
      .join(', ')
    if (problem !== '')
      byProblem.set(problem, [...(byProblem.get(problem) ?? []), pod['metadata'].name])
  }
  if (byProblem.size === 0) return
  const target = JSON.stringify(`${after.level}:${after.version}`)
  request.warn(
    `existing pods in namespace ${JSON.stringify(namespace)} violate the new PodSecurity enforce level ${target}`,
  )
  for (const [problem, names] of byProblem) {
    const [first, ...others] = names.toSorted()
    const rest =
      others.length === 0 ? '' : ` (and ${others.length} other pod${others.length > 1 ? 's' : ''})`
    request.warn(`${first}${rest}: ${problem}`)
  }
}

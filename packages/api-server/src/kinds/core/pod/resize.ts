/** The subresource `resize`: cpu and memory of running containers. Contract: docs/behaviour/api-server/defaulting-and-validation.md, "Pod update". */
import type { Container, Pod, PodSpec, Quantity } from '@gyropilot/api'
import { deepEqual } from '@gyropilot/api'
import { cloneJson } from '../../../registry/equality.ts'
import type { DraftOf, Stored, StoredOf } from '../../../registry/kind-rules.ts'
import type { FieldErrors } from '@gyropilot/schema/field-errors'
import { isMirrorPod } from './annotations.ts'
import { qosClassOf } from './qos.ts'
import { validatePod } from './spec.ts'

const LISTS = ['initContainers', 'containers'] as const
const RESIZABLE = ['cpu', 'memory']
const ONLY = 'only cpu and memory resources are mutable'

type List = (typeof LISTS)[number]

const containersOf = (spec: StoredOf<PodSpec>, list: List): readonly StoredOf<Container>[] =>
  spec[list] ?? []

/** The stored spec with the given containers' resources; as given where containers come, go or change places. */
export function resizedSpec(given: StoredOf<PodSpec>, stored: StoredOf<PodSpec>): DraftOf<PodSpec> {
  if (LISTS.some((list) => containersOf(given, list).length !== containersOf(stored, list).length))
    return given
  const spec: DraftOf<PodSpec> = cloneJson(stored)
  if (given.resources === undefined) delete spec.resources
  else spec.resources = given.resources
  for (const list of LISTS) {
    const wanted = containersOf(given, list)
    if (wanted.length === 0) continue
    const old = containersOf(stored, list)
    spec[list] = wanted.some(({ name }, index) => name !== old[index]!.name)
      ? wanted
      : wanted.map(({ resources, resizePolicy }, index) => {
          const { resizePolicy: _before, ...rest } = old[index]!
          return {
            ...rest,
            resources: resources ?? {},
            ...(resizePolicy === undefined ? {} : { resizePolicy }),
          }
        })
  }
  return spec
}

export function validatePodResize(
  object: StoredOf<Pod>,
  stored: StoredOf<Pod>,
  errors: FieldErrors,
): void {
  if (isMirrorPod(stored)) {
    errors.forbidden('[]', 'static pods cannot be resized')
    return
  }
  if (stored.spec?.os?.name === 'windows') {
    errors.forbidden('[]', 'windows pods cannot be resized')
    return
  }
  validatePod(object, errors)
  const now = object.spec ?? {}
  const old = stored.spec ?? {}
  const before = stored.status?.qosClass ?? qosClassOf(old)
  if (before !== qosClassOf(now))
    errors.invalid(
      'spec',
      object.status?.qosClass ?? '',
      'Pod QOS Class may not change as a result of resizing',
    )
  const running = (stored.status?.containerStatuses ?? []).find(({ state }) => state?.running)
  if (running !== undefined && !running.resources)
    errors.forbidden('spec', 'Pod running on node without support for resize')
  validatePodLevel(now.resources, old.resources, errors)
  if (!validateOrder(now, old, errors)) return
  for (const list of LISTS) validateRemovals(now, old, list, errors)
  for (const [index, container] of containersOf(now, 'containers').entries()) {
    if (!sameButCpuAndMemory(container, containersOf(old, 'containers')[index]!))
      errors.forbidden('spec', ONLY)
  }
  for (const [index, container] of containersOf(now, 'initContainers').entries()) {
    if (!sameButCpuAndMemory(container, containersOf(old, 'initContainers')[index]!))
      errors.forbidden(
        `spec.initContainers[${index}]`,
        'only cpu and memory resources for init or sidecar containers are mutable',
      )
  }
}

function validatePodLevel(
  now: StoredOf<PodSpec>['resources'],
  before: StoredOf<PodSpec>['resources'],
  errors: FieldErrors,
): void {
  if (before !== undefined && now === undefined) {
    errors.forbidden('spec.resources', 'pod-level resources cannot be removed')
    return
  }
  for (const kind of ['requests', 'limits'] as const)
    if (lacksOne(now?.[kind], before?.[kind]))
      errors.forbidden(`spec.resources.${kind}`, `pod-level resource ${kind} cannot be removed`)
  const hasClaims = (now?.claims ?? []).length > 0
  if (hasClaims || !deepEqual(fixedResources(now), fixedResources(before)))
    errors.forbidden('spec', `${ONLY} at pod-level`)
}

const lacksOne = (now: ResourceList | undefined, before: ResourceList | undefined): boolean =>
  Object.keys(before ?? {}).some((name) => now?.[name] === undefined)

type ResourceList = Readonly<Record<string, Quantity>>

/** What a resize leaves as it is. */
const fixedResources = (resources: StoredOf<PodSpec>['resources']): Stored =>
  Object.fromEntries(
    (['requests', 'limits'] as const).map((kind) => [
      kind,
      Object.fromEntries(
        Object.entries(resources?.[kind] ?? {}).filter(([name]) => !RESIZABLE.includes(name)),
      ),
    ]),
  )

function validateOrder(
  spec: StoredOf<PodSpec>,
  before: StoredOf<PodSpec>,
  errors: FieldErrors,
): boolean {
  const known = errors.list.length
  for (const list of ['containers', 'initContainers'] as const) {
    const old = containersOf(before, list)
    const now = containersOf(spec, list)
    if (now.length !== old.length) {
      errors.forbidden(`spec.${list}`, `${list} may not be added or removed on resize`)
      continue
    }
    for (const [index, { name }] of old.entries()) {
      if (now[index]!.name !== name)
        errors.forbidden(
          `spec.${list}[${index}].name`,
          `${list} may not be renamed or reordered on resize`,
        )
    }
  }
  return errors.list.length === known
}

function validateRemovals(
  spec: StoredOf<PodSpec>,
  before: StoredOf<PodSpec>,
  list: List,
  errors: FieldErrors,
): void {
  for (const [index, { resources = {} }] of containersOf(before, list).entries()) {
    const now = containersOf(spec, list)[index]!.resources ?? {}
    for (const kind of ['requests', 'limits'] as const) {
      if (lacksOne(now[kind], resources[kind]))
        errors.forbidden(
          `spec.${list}[${index}].resources.${kind}`,
          `resource ${kind} cannot be removed`,
        )
    }
  }
}

function sameButCpuAndMemory(container: StoredOf<Container>, before: StoredOf<Container>): boolean {
  // As kube-apiserver has it: claims that are there are never the same, and those that are sent are not looked at.
  if ((before.resources?.claims ?? []).length > 0) return false
  const rest = ({ resources = {}, ...others }: StoredOf<Container>): Stored => ({
    ...others,
    resources: fixedResources(resources),
  })
  return deepEqual(rest(container), rest(before))
}

/** The subresource `resize`: cpu and memory of running containers. Contract: docs/behaviour/api-server/defaulting-and-validation.md, "Pod update". */
import { deepEqual } from '@gyropilot/api'
import { cloneJson } from '../../../registry/equality.ts'
import type { Draft, Stored } from '../../../registry/kind-rules.ts'
import type { FieldErrors } from '@gyropilot/schema/field-errors'
import { isMirrorPod } from './annotations.ts'
import { qosClassOf } from './qos.ts'
import { validatePod } from './spec.ts'

const LISTS = ['initContainers', 'containers'] as const
const RESIZABLE = ['cpu', 'memory']
const ONLY = 'only cpu and memory resources are mutable'

const containersOf = (spec: Stored, list: string): readonly Stored[] => spec[list] ?? []

/** The stored spec with the given containers' resources; as given where containers come, go or change places. */
export function resizedSpec(given: Stored, stored: Stored): Draft {
  if (LISTS.some((list) => containersOf(given, list).length !== containersOf(stored, list).length))
    return given as Draft
  const spec: Draft = cloneJson(stored)
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

export function validatePodResize(object: Stored, stored: Stored, errors: FieldErrors): void {
  if (isMirrorPod(stored)) {
    errors.forbidden('[]', 'static pods cannot be resized')
    return
  }
  if (stored.spec?.os?.name === 'windows') {
    errors.forbidden('[]', 'windows pods cannot be resized')
    return
  }
  validatePod(object, errors)
  const before: string = stored.status?.qosClass ?? qosClassOf(stored.spec)
  if (before !== qosClassOf(object.spec))
    errors.invalid('spec', before, 'Pod QOS Class may not change as a result of resizing')
  const running: Stored | undefined = (stored.status?.containerStatuses ?? []).find(
    ({ state }: Stored) => state?.running,
  )
  if (running !== undefined && !running.resources)
    errors.forbidden('spec', 'Pod running on node without support for resize')
  if (!validateOrder(object.spec, stored.spec, errors)) return
  for (const list of LISTS) validateRemovals(object.spec, stored.spec, list, errors)
  for (const [index, container] of containersOf(object.spec, 'containers').entries()) {
    if (!sameButCpuAndMemory(container, stored.spec.containers[index]))
      errors.forbidden('spec', ONLY)
  }
  for (const [index, container] of containersOf(object.spec, 'initContainers').entries()) {
    const old: Stored = stored.spec.initContainers[index]
    if (container.restartPolicy !== 'Always') {
      if (!deepEqual(container, old))
        errors.forbidden('spec', 'resources for non-sidecar init containers are immutable')
    } else if (!sameButCpuAndMemory(container, old))
      errors.forbidden(
        `spec.initContainers[${index}]`,
        'only cpu and memory resources for init or sidecar containers are mutable',
      )
  }
}

function validateOrder(spec: Stored, before: Stored, errors: FieldErrors): boolean {
  const known = errors.list.length
  for (const list of ['containers', 'initContainers']) {
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

function validateRemovals(spec: Stored, before: Stored, list: string, errors: FieldErrors): void {
  for (const [index, { resources = {}, restartPolicy }] of containersOf(before, list).entries()) {
    if (list === 'initContainers' && restartPolicy !== 'Always') continue
    const now: Stored = spec[list][index].resources ?? {}
    for (const kind of ['requests', 'limits']) {
      const names = Object.keys(resources[kind] ?? {})
      if (names.some((name) => now[kind]?.[name] === undefined))
        errors.forbidden(
          `spec.${list}[${index}].resources.${kind}`,
          `resource ${kind} cannot be removed`,
        )
    }
  }
}

function sameButCpuAndMemory(container: Stored, before: Stored): boolean {
  const rest = ({ resources = {}, ...others }: Draft): Draft => ({
    ...others,
    resources: Object.fromEntries(
      ['requests', 'limits'].map((kind) => [
        kind,
        Object.fromEntries(
          Object.entries(resources[kind] ?? {}).filter(([name]) => !RESIZABLE.includes(name)),
        ),
      ]),
    ),
  })
  return deepEqual(rest(container as Draft), rest(before as Draft))
}

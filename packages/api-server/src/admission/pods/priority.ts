import type { AdmissionPlugin, AdmissionRequest } from '../../contracts.ts'
import type { Stored } from '../../registry/kind-rules.ts'
import { isFor, read, readAll, refusal } from '../world.ts'
import type { AdmissionWorld } from '../world.ts'

const GROUP = 'scheduling.k8s.io'
const CLASSES = `priorityclasses.${GROUP}`
const GROUPS_GATE = 'WorkloadAwarePreemption'
const DEFAULT_PREEMPTION_POLICY = 'PreemptLowerPriority'

/** Turns the name of a priority class into the number the scheduler compares; one class at most is the default. */
export function priority(world: AdmissionWorld): AdmissionPlugin {
  return {
    name: 'Priority',
    handles: (request) =>
      (request.operation === 'CREATE' || request.operation === 'UPDATE') &&
      (isFor(request, '', 'pods') ||
        isFor(request, GROUP, 'priorityclasses') ||
        (isFor(request, GROUP, 'podgroups') && world.featureEnabled?.(GROUPS_GATE) === true)),
    mutate(request) {
      if (request.resource.resource === 'priorityclasses') return
      if (request.resource.resource === 'podgroups') {
        if (request.operation === 'CREATE') setGroupPriority(world, request)
      } else if (request.operation === 'UPDATE') keepPriority(request)
      else setPriority(world, request)
    },
    validate(request) {
      if (request.resource.resource === 'priorityclasses') checkSingleDefault(world, request)
    },
  }
}

/** Old clients do not send fields they do not know. */
function keepPriority({ object, oldObject }: AdmissionRequest): void {
  for (const field of ['priority', 'preemptionPolicy']) {
    const before = oldObject?.['spec'][field]
    if (object!['spec'][field] === undefined && before !== undefined)
      object!['spec'][field] = before
  }
}

function setPriority(world: AdmissionWorld, request: AdmissionRequest): void {
  const { spec } = request.object!
  const chosen = chosenClass(world, request)
  const value: number = chosen?.['value'] ?? 0
  const policy: string = chosen?.['preemptionPolicy'] ?? DEFAULT_PREEMPTION_POLICY
  const tail = 'from the given PriorityClass name'
  if (typeof spec.priority === 'number' && spec.priority !== value) {
    const given = `the integer value of priority (${spec.priority}) must not be provided in pod spec`
    throw refusal(request, `${given}; priority admission controller computed ${value} ${tail}`)
  }
  if (typeof spec.preemptionPolicy === 'string' && spec.preemptionPolicy !== policy) {
    const given = `the string value of PreemptionPolicy (${spec.preemptionPolicy}) must not be provided in pod spec`
    throw refusal(request, `${given}; priority admission controller computed ${policy} ${tail}`)
  }
  spec.priority = value
  spec.preemptionPolicy = policy
}

function setGroupPriority(world: AdmissionWorld, request: AdmissionRequest): void {
  const { spec } = request.object!
  const value: number = chosenClass(world, request)?.['value'] ?? 0
  if (typeof spec.priority === 'number' && spec.priority !== value) {
    const given = `priority set in the pod group (${spec.priority}) must match the priority computed (${value})`
    throw refusal(request, `${given} based on the priority class set in the spec`)
  }
  spec.priority = value
}

/** The class that is named, or that of those who name none, which they name from now on. */
function chosenClass(world: AdmissionWorld, request: AdmissionRequest): Stored | undefined {
  const { spec } = request.object!
  const name: string = spec.priorityClassName ?? ''
  const chosen = name === '' ? defaultClass(world) : read(world, CLASSES, name)
  if (name !== '' && chosen === undefined)
    throw refusal(request, `no PriorityClass with name ${name} was found`)
  if (name === '' && chosen !== undefined) spec.priorityClassName = chosen['metadata'].name
  return chosen
}

/** When a race left several, the lowest. */
function defaultClass(world: AdmissionWorld): Stored | undefined {
  const defaults = readAll(world, CLASSES).filter((entry) => entry['globalDefault'] === true)
  return defaults.toSorted((a, b) => a['value'] - b['value'])[0]
}

function checkSingleDefault(world: AdmissionWorld, request: AdmissionRequest): void {
  if (request.object!['globalDefault'] !== true) return
  const known = defaultClass(world)
  if (known === undefined) return
  const isOwn = known['metadata'].name === request.object!['metadata'].name
  // Who makes the same one again is told of it before its name is.
  if (isOwn && request.operation === 'UPDATE') return
  throw refusal(
    request,
    `PriorityClass ${known['metadata'].name} is already marked as default. Only one default can exist`,
  )
}

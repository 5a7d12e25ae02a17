/** Puts a pod on a node. Contract: docs/behaviour/api-server/subresources-and-admission.md, "Binding". */
import { aggregateText, formatTime } from '@gyropilot/foundation'
import type { SubresourceAnswer, SubresourceCall, SubresourceHandler } from '../contracts.ts'
import { badRequest, conflict, unclassified } from '../http/errors.ts'
import { storageError } from '../registry/storage-errors.ts'
import type { Draft, Stored } from '@gyropilot/schema/objects'
import { checkNameInUrl, success } from './answers.ts'

const PODS = { group: '', resource: 'pods', kind: 'Pod' }
const PODS_BINDING = { group: '', resource: 'pods/binding', kind: 'Pod' }

export const podBinding: SubresourceHandler = {
  group: '',
  resource: 'pods',
  subresource: 'binding',
  methods: ['POST'],
  sendsIdentity: true,
  check(call) {
    checkNameInUrl(call, 'Binding')
    checkTarget(call.body ?? {})
  },
  handle: (call) => bind(call, call.name),
}

/** The old way: POST to the collection. */
export const bindings: SubresourceHandler = {
  group: '',
  resource: 'bindings',
  subresource: '',
  methods: ['POST'],
  check: (call) => checkTarget(call.body ?? {}),
  handle(call) {
    const podName: string = call.body?.['metadata']?.name ?? ''
    if (podName === '') throw badRequest('Name parameter required.')
    return bind(call, podName)
  },
}

async function bind(call: SubresourceCall, podName: string): Promise<SubresourceAnswer> {
  const binding = call.body ?? {}
  const options = { internal: true, dryRun: call.dryRun, as: call.user, subresource: 'binding' }
  await call.server.update(
    '',
    'pods',
    call.namespace,
    podName,
    (pod) => assign(pod, binding, call),
    options,
  )
  return success(201)
}

function checkTarget({ target }: Draft): void {
  const problems: string[] = []
  if (target?.kind && target.kind !== 'Node') {
    problems.push(
      `target.kind: Unsupported value: ${JSON.stringify(target.kind)}: supported values: "Node", "<empty>"`,
    )
  }
  if (!target?.name) problems.push('target.name: Required value')
  if (problems.length > 0) throw unclassified(aggregateText(problems))
}

function assign(pod: Draft, binding: Draft, { nowMs, dryRun }: SubresourceCall): void {
  const { name } = pod['metadata']
  checkPreconditions(pod, binding, dryRun)
  const why = refusalOf(pod)
  if (why !== undefined) throw conflict(PODS_BINDING, name, why)
  pod['spec'].nodeName = binding['target'].name
  for (const field of ['annotations', 'labels'] as const) {
    const added = binding['metadata']?.[field]
    if (added !== undefined) pod['metadata'][field] = { ...pod['metadata'][field], ...added }
  }
  const condition = {
    type: 'PodScheduled',
    status: 'True' as const,
    lastProbeTime: null,
    lastTransitionTime: formatTime(nowMs),
  }
  // The node that preemption promised means nothing any more (gate ClearingNominatedNodeNameAfterBinding).
  const { nominatedNodeName: _, ...status } = pod['status'] ?? {}
  pod['status'] = { ...status, conditions: withCondition(status.conditions ?? [], condition) }
}

function refusalOf({ metadata, spec }: Stored): string | undefined {
  if (metadata.deletionTimestamp !== undefined)
    return `pod ${metadata.name} is being deleted, cannot be assigned to a host`
  if (spec.nodeName)
    return `pod ${metadata.name} is already assigned to node ${JSON.stringify(spec.nodeName)}`
  if ((spec.schedulingGates ?? []).length > 0)
    return `pod ${metadata.name} has non-empty .spec.schedulingGates`
  return undefined
}

function checkPreconditions({ metadata }: Stored, binding: Stored, dryRun: boolean): void {
  const { uid, resourceVersion } = binding['metadata'] ?? {}
  const parts: string[] = []
  if (uid && uid !== metadata.uid)
    parts.push(`UID in precondition: ${uid}, UID in object meta: ${metadata.uid}`)
  else if (resourceVersion && resourceVersion !== metadata.resourceVersion) {
    parts.push(
      `ResourceVersion in precondition: ${resourceVersion}, ResourceVersion in object meta: ${metadata.resourceVersion}`,
    )
  }
  if (parts.length === 0) return
  const key = `pods/${metadata.namespace}/${metadata.name}`
  const why = `Precondition failed: ${parts[0]}`
  throw conflict(PODS, metadata.name, storageError(key, why, dryRun))
}

interface Condition {
  readonly type: string
  readonly status: string
  readonly lastTransitionTime?: string
}

/** Replaces the condition of this type; an unchanged status keeps its time. */
export function withCondition<T extends Condition>(conditions: readonly T[], condition: T): T[] {
  const known = conditions.find(({ type }) => type === condition.type)
  if (known === undefined) return [...conditions, condition]
  const lastTransitionTime =
    known.status === condition.status ? known.lastTransitionTime : condition.lastTransitionTime
  return conditions.map((entry) => (entry === known ? { ...condition, lastTransitionTime } : entry))
}

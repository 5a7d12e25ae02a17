/** Deletes a pod if its disruption budget allows. Contract: docs/behaviour/api-server/subresources-and-admission.md, "Eviction". */
import { formatTime, sleep } from '@gyropilot/foundation'
import type { Clock } from '@gyropilot/foundation'
import { labelQueryOf } from '@gyropilot/api'
import { SERVER_IDENTITY } from '../auth/index.ts'
import { ApiError } from '../contracts.ts'
import type { SubresourceCall, SubresourceHandler } from '../contracts.ts'
import { forbidden, invalid, notFound, unclassified, preconditionMismatch } from '../http/errors.ts'
import { FieldErrors } from '@gyropilot/schema/field-errors'
import type { Draft, Stored } from '@gyropilot/schema/objects'
import { checkNameInUrl, isConflict, success } from './answers.ts'
import { withCondition } from './binding.ts'

const POD = { group: '', resource: 'pods', kind: 'Pod' }
const BUDGETS = { group: 'policy', resource: 'poddisruptionbudgets' }
const MAX_DISRUPTED_PODS = 2000
const RETRY_AFTER_SECONDS = 10
const PENDING_ATTEMPTS = 20
const PENDING_PAUSE_MS = 500

export function podEviction(clock: Clock): SubresourceHandler {
  return {
    group: '',
    resource: 'pods',
    subresource: 'eviction',
    methods: ['POST'],
    check(call) {
      checkNameInUrl(call, 'Eviction')
      refuseBreaking(call)
      shareDryRun(call)
    },
    async handle(call) {
      await evict(call, clock)
      return success(201)
    },
  }
}

async function evict(call: SubresourceCall, clock: Clock): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const pod = findPod(call)
    if (!needsNoBudget(pod)) return evictWithBudget(call, pod)
    // Who names a version means that one.
    const mayChange = pod['status']?.phase === 'Pending' && askedVersion(call) === undefined
    try {
      // A pod that starts to run meanwhile is judged again.
      return await remove(call, mayChange ? pod : undefined)
    } catch (error) {
      if (!mayChange || !isConflict(error) || attempt >= PENDING_ATTEMPTS) throw error
    }
    await sleep(clock, PENDING_PAUSE_MS)
  }
}

function askedVersion({ body }: SubresourceCall): string | undefined {
  return body?.['deleteOptions']?.preconditions?.resourceVersion ?? undefined
}

const BREAKING = 'ignoreStoreReadErrorWithClusterBreakingPotential'

/** What cannot be read is not judged by its budget. */
function refuseBreaking({ body, name }: SubresourceCall): void {
  if (body?.['deleteOptions']?.[BREAKING] !== true) return
  const errors = new FieldErrors()
  const message = 'can not be set for pod eviction, try after removing the option'
  errors.invalid(`deleteOptions.${BREAKING}`, true, message)
  throw invalid('policy', 'Eviction', name, errors.list)
}

/** Of the query and of the options in the body: where both say something, they say the same. Those who judge see it in the body. */
function shareDryRun({ body, dryRun }: SubresourceCall): void {
  const options: Draft | undefined = body?.['deleteOptions']
  if (!dryRun || !options) return
  const own: readonly string[] = options['dryRun'] ?? []
  if (own.length > 0 && (own.length !== 1 || own[0] !== 'All'))
    throw unclassified(
      `Non-matching dry-run options in request and content: [All] and [${own.join(' ')}]`,
    )
  options['dryRun'] = ['All']
}

/** The body may ask for it too. */
function isDryRun({ body, dryRun }: SubresourceCall): boolean {
  return dryRun || (body?.['deleteOptions']?.dryRun ?? []).length > 0
}

function findPod(call: SubresourceCall): Stored {
  const pod = call.server.get('', 'pods', call.namespace, call.name)
  if (pod === undefined) throw notFound(call.resource, call.name)
  return pod
}

function needsNoBudget({ metadata, status }: Stored): boolean {
  return (
    metadata.deletionTimestamp !== undefined ||
    ['Pending', 'Succeeded', 'Failed'].includes(status?.phase ?? '')
  )
}

async function evictWithBudget(call: SubresourceCall, pod: Stored): Promise<void> {
  const budgets = call.server
    .list(BUDGETS.group, BUDGETS.resource, call.namespace)
    .filter((budget) => labelQueryOf(budget['spec'].selector).matches(pod['metadata'].labels))
  if (budgets.length > 1) {
    throw unclassified(
      'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.',
    )
  }
  const [budget] = budgets
  if (budget === undefined) return remove(call, undefined)
  if (!isReady(pod) && maySkipUnhealthy(budget)) return removeUnhealthy(call, budget, pod)
  await spend(call, budget, pod)
  return remove(call, undefined)
}

function isReady({ status }: Stored): boolean {
  return (status?.conditions ?? []).some(
    ({ type, status: value }: Stored) => type === 'Ready' && value === 'True',
  )
}

function maySkipUnhealthy({ spec, status }: Stored): boolean {
  if (spec.unhealthyPodEvictionPolicy === 'AlwaysAllow') return true
  const { currentHealthy = 0, desiredHealthy = 0 } = status ?? {}
  return currentHealthy >= desiredHealthy && desiredHealthy > 0
}

/** A pod that changes meanwhile may have become healthy: who named no version is to ask again. */
async function removeUnhealthy(call: SubresourceCall, budget: Stored, pod: Stored): Promise<void> {
  try {
    await remove(call, pod)
  } catch (error) {
    if (isConflict(error) && askedVersion(call) === undefined) throw stillProcessed(budget)
    throw error
  }
}

/** Takes one disruption from the budget, with optimistic concurrency. */
async function spend(call: SubresourceCall, budget: Stored, pod: Stored): Promise<void> {
  const podName: string = pod['metadata'].name
  if (isDryRun(call)) {
    checkBudget(budget)
    return
  }
  const { namespace, name } = budget['metadata']
  const change = (draft: Draft): void => {
    checkBudget(draft)
    const time = formatTime(call.nowMs)
    const status = draft['status']
    status.disruptionsAllowed -= 1
    status.disruptedPods = { ...status.disruptedPods, [podName]: time }
    if (status.disruptionsAllowed > 0) return
    const observedGeneration = draft['metadata'].generation ?? 0
    const exhausted = {
      type: 'DisruptionAllowed',
      status: 'False',
      reason: 'InsufficientPods',
      message: '',
      observedGeneration,
      lastTransitionTime: time,
    }
    status.conditions = withCondition(status.conditions ?? [], exhausted)
  }
  const options = { subresource: 'status', as: SERVER_IDENTITY, manager: 'kube-apiserver' }
  await call.server.update(BUDGETS.group, BUDGETS.resource, namespace, name, change, options)
}

function checkBudget(budget: Stored): void {
  const { name, generation = 0 } = budget['metadata']
  const {
    observedGeneration = 0,
    disruptionsAllowed = 0,
    disruptedPods = {},
  } = budget['status'] ?? {}
  if (observedGeneration < generation) throw stillProcessed(budget)
  if (disruptionsAllowed < 0) throw forbidden(BUDGETS, name, 'pdb disruptions allowed is negative')
  if (Object.keys(disruptedPods).length > MAX_DISRUPTED_PODS) {
    throw forbidden(
      BUDGETS,
      name,
      'DisruptedPods map too big - too many evictions not confirmed by PDB controller',
    )
  }
  if (disruptionsAllowed === 0) throw tooManyRequests(whyNone(budget), undefined)
}

function whyNone(budget: Stored): string {
  const { name } = budget['metadata']
  const { conditions = [], currentHealthy = 0, desiredHealthy = 0 } = budget['status'] ?? {}
  const condition = conditions.find((entry: Stored) => entry['type'] === 'DisruptionAllowed')
  const isFalse = condition?.status === 'False' && Boolean(condition.message)
  const refused = `The disruption budget ${name} does not allow evicting pods currently`
  if (isFalse && condition.reason === 'SyncFailed')
    return `${refused} because it failed sync: ${condition.message}`
  if (currentHealthy <= desiredHealthy) {
    return `The disruption budget ${name} needs ${desiredHealthy} healthy pods and has ${currentHealthy} currently`
  }
  return isFalse ? `${refused} (${condition.reason}): ${condition.message}` : refused
}

function stillProcessed({ metadata: { name } }: Stored): ApiError {
  const cause = `The disruption budget ${name} is still being processed by the server.`
  return tooManyRequests(cause, RETRY_AFTER_SECONDS)
}

function tooManyRequests(cause: string, retryAfterSeconds: number | undefined): ApiError {
  const message = "Cannot evict pod as it would violate the pod's disruption budget."
  const retry = retryAfterSeconds === undefined ? {} : { retryAfterSeconds }
  return new ApiError(429, 'TooManyRequests', message, {
    details: { causes: [{ reason: 'DisruptionBudget', message: cause }], ...retry },
    headers: retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) },
  })
}

interface Preconditions {
  readonly uid?: string | null
  readonly resourceVersion?: string | null
}

/** Says on the pod why it goes, then deletes it. `unchanged`: only while the pod is as it was read, unless a version was named. */
async function remove(call: SubresourceCall, unchanged: Stored | undefined): Promise<void> {
  const { server, namespace, name } = call
  const own: Draft = call.body?.['deleteOptions'] ?? {}
  let preconditions: Preconditions = { ...own['preconditions'] }
  if (unchanged !== undefined)
    preconditions = { resourceVersion: unchanged['metadata'].resourceVersion, ...preconditions }
  if (!isDryRun(call)) {
    const judged = preconditions
    const marked = await server.update(
      '',
      'pods',
      namespace,
      name,
      (pod) => mark(pod, judged, call.nowMs),
      { internal: true, subresource: 'status', as: call.user },
    )
    if (preconditions.resourceVersion !== undefined)
      preconditions = { ...preconditions, resourceVersion: marked['metadata'].resourceVersion }
  }
  const options = {
    ...own,
    ...(call.dryRun ? { dryRun: ['All'] } : {}),
    ...(Object.keys(preconditions).length === 0 ? {} : { preconditions }),
  }
  // Admission has seen the eviction: neither the mark nor the deletion is a request of its own.
  await server.delete('', 'pods', namespace, name, options, call.user, 'unasked')
}

function mark(pod: Draft, { uid, resourceVersion }: Preconditions, nowMs: number): void {
  const { metadata } = pod
  const wanted = [
    ['UID', uid, metadata.uid],
    ['ResourceVersion', resourceVersion, metadata.resourceVersion],
  ] as const
  // An empty one is left to the deletion.
  for (const [field, named, found] of wanted)
    if (named && named !== found)
      throw preconditionMismatch(POD, metadata.name, field, named, found)
  const condition = {
    type: 'DisruptionTarget',
    status: 'True',
    reason: 'EvictionByEvictionAPI',
    message: 'Eviction API: evicting',
    lastProbeTime: null,
    lastTransitionTime: formatTime(nowMs),
  }
  pod['status'] = {
    ...pod['status'],
    conditions: withCondition(pod['status']?.conditions ?? [], condition),
  }
}

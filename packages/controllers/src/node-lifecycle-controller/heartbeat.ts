/**
 * Whether a node is alive, by when this process saw it move: the clocks of kubelets are not trusted. Pure but for the last part.
 * Contract: docs/behaviour/controllers/node-lifecycle-controller.md, C.
 */
import { compareTimes, findCondition, resources, semanticEqual } from '@gyropilot/api'
import type { Lease, Node, NodeCondition } from '@gyropilot/api'
import { formatTime } from '@gyropilot/foundation'
import { currentTimeMs, getLive, updateStatus, wait, write } from '@gyropilot/runtime'
import type { Reconcile } from '@gyropilot/runtime'
import { STATUS_PAUSE_MS, STATUS_TRIES, creationMs } from './config.ts'
import type { NodeLifecycleConfiguration } from './config.ts'

type GracePeriods = Pick<
  NodeLifecycleConfiguration,
  'nodeMonitorGracePeriodMs' | 'nodeStartupGracePeriodMs'
>

/**
 * What is remembered of a node from pass to pass. Its times are elapsed ones: a wall clock that is set, or that went on while the machine
 * was suspended, says nothing of how long a node has been silent.
 */
export interface HealthRecord {
  /** As it was when it last moved; undefined: the node had none. */
  readonly ready: NodeCondition | undefined
  readonly lease: Lease | undefined
  /** When the node last gave a sign of life. */
  readonly probeMs: number
}

/** One moment by both clocks of this process. */
interface Moment {
  /** For what is written, and to be compared with what others wrote. */
  readonly wallMs: number
  readonly elapsedMs: number
}

/** What a pass found out about a node. */
export interface Health {
  readonly record: HealthRecord
  /** As the node was found; made up where it had none. */
  readonly observed: NodeCondition
  /** As the node is now, after what was written. */
  readonly current: NodeCondition | undefined
  readonly node: Node
}

export function readyOf({ status }: Node): NodeCondition | undefined {
  return findCondition(status?.conditions, 'Ready')
}

/** 1.-3.: the record after a look at the node. */
export function observedRecord(
  node: Node,
  lease: Lease | undefined,
  known: HealthRecord | undefined,
  now: Moment,
): HealthRecord {
  const record = recordOf(node, known, now)
  if (lease === undefined || !isRenewed(record.lease, lease)) return record
  return { ...record, lease, probeMs: now.elapsedMs }
}

function recordOf(
  node: Node,
  known: HealthRecord | undefined,
  { wallMs, elapsedMs }: Moment,
): HealthRecord {
  const ready = readyOf(node)
  const fresh = { ready, lease: known?.lease, probeMs: elapsedMs }
  if (known === undefined) {
    if (ready !== undefined) return fresh
    return { ...fresh, probeMs: elapsedMs - (wallMs - creationMs(node)) }
  }
  if (ready === undefined && known.ready === undefined) return known
  // Any other time counts, an older one too: what is asked is whether the node moved.
  const isSilent = ready?.lastHeartbeatTime === known.ready?.lastHeartbeatTime
  return ready !== undefined && known.ready !== undefined && isSilent ? known : fresh
}

function isRenewed(saved: Lease | undefined, lease: Lease): boolean {
  if (saved === undefined) return true
  return compareTimes(saved.spec?.renewTime, lease.spec?.renewTime) < 0
}

const LAPSING = ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure'] as const

/** 4.: the conditions of a node that has been silent for too long; undefined: it has not. */
export function lapsedConditions(
  node: Node,
  record: HealthRecord,
  grace: GracePeriods,
  { wallMs, elapsedMs }: Moment,
): readonly NodeCondition[] | undefined {
  const graceMs =
    readyOf(node) === undefined ? grace.nodeStartupGracePeriodMs : grace.nodeMonitorGracePeriodMs
  if (elapsedMs <= record.probeMs + graceMs) return undefined
  const lastTransitionTime = formatTime(wallMs)
  const conditions = (node.status?.conditions ?? []).map((condition): NodeCondition => {
    const lapses = LAPSING.some((type) => type === condition.type)
    if (!lapses || condition.status === 'Unknown') return condition
    return {
      ...condition,
      status: 'Unknown',
      reason: 'NodeStatusUnknown',
      message: 'Kubelet stopped posting node status.',
      lastTransitionTime,
    }
  })
  for (const type of LAPSING) {
    if (conditions.some((condition) => condition.type === type)) continue
    conditions.push({
      type,
      status: 'Unknown',
      reason: 'NodeStatusNeverUpdated',
      message: 'Kubelet never posted node status.',
      lastHeartbeatTime: node.metadata?.creationTimestamp,
      lastTransitionTime,
    })
  }
  return conditions
}

/** All of it for one node, with what must be written. Undefined: that failed, the node is left for the next pass. */
export function* evaluateHealth(
  cached: Node,
  lease: Lease | undefined,
  known: HealthRecord | undefined,
  grace: GracePeriods,
  elapsedMs: () => number,
): Reconcile<Health | { readonly record: HealthRecord; readonly error: unknown }> {
  let node = cached
  let record = known
  for (let attempt = 1; ; attempt++) {
    const now = { wallMs: yield* currentTimeMs(), elapsedMs: elapsedMs() }
    record = observedRecord(node, lease, record, now)
    const observed = readyOf(node) ?? neverPosted(node)
    const conditions = lapsedConditions(node, record, grace, now)
    const changed =
      conditions === undefined ? node : { ...node, status: { ...node.status, conditions } }
    const current = readyOf(changed)
    if (conditions === undefined || semanticEqual(current, observed))
      return { record, observed, current: readyOf(node), node }
    // 5.
    const written = yield* write(updateStatus(resources.nodes, changed))
    if (written.ok) {
      record = { ...record, ready: current }
      return { record, observed, current, node: changed }
    }
    if (attempt === STATUS_TRIES) return { record, error: written.error }
    const live = yield* getLive(resources.nodes, undefined, node.metadata?.name ?? '')
    if (!live.ok) return { record, error: live.error }
    node = live.object
    yield* wait(STATUS_PAUSE_MS)
  }
}

function neverPosted({ metadata }: Node): NodeCondition {
  const time = metadata?.creationTimestamp
  return { type: 'Ready', status: 'Unknown', lastHeartbeatTime: time, lastTransitionTime: time }
}

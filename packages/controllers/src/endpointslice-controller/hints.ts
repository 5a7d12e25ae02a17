/**
 * Which kind of hints a Service gets, and the events about it.
 * Contract: docs/behaviour/controllers/endpointslice-controller.md, Sync D.
 */
import { keyOf } from '@gyropilot/api'
import type { Service } from '@gyropilot/api'
import type { IpFamily } from '../endpoint-support/ip-address.ts'
import { withoutHints } from './hinted-plan.ts'
import type { SlicePlan } from './packing.ts'
import type { Topology } from './topology.ts'
import { withTopologyHints } from './topology-hints.ts'
import { withDistributionHints } from './traffic-distribution.ts'

const LEGACY_ANNOTATION = 'service.kubernetes.io/topology-aware-hints'
const TOPOLOGY_ANNOTATION = 'service.kubernetes.io/topology-mode'
const ENABLED = 'Topology Aware Hints has been enabled'
const DISABLED = 'Topology Aware Hints has been disabled'

interface HintEvent {
  readonly type: 'Normal' | 'Warning'
  readonly reason: 'TopologyAwareHintsEnabled' | 'TopologyAwareHintsDisabled'
  readonly message: string
}

interface HintedPlan {
  readonly plan: SlicePlan
  /** To be recorded once the plan was carried out. */
  readonly events: readonly HintEvent[]
}

const NO_NODES = 'Nodes only ready in one zone'

/** Whether the Service asks for topology hints. The older annotation wins, whatever its value. */
export function wantsTopologyHints({ metadata }: Service): boolean {
  const { annotations = {} } = metadata ?? {}
  const value = annotations[LEGACY_ANNOTATION] ?? annotations[TOPOLOGY_ANNOTATION]
  return value === 'Auto' || value === 'auto'
}

export function hintedPlan(
  service: Service,
  family: IpFamily,
  plan: SlicePlan,
  topology: Topology,
): HintedPlan {
  const key = keyOf(service)
  if (!wantsTopologyHints(service)) {
    const events = topology.hasHints(key) ? [disabledEvent(DISABLED, family)] : []
    topology.removeHints(key, family)
    return { plan: withDistributionHints(plan, service.spec?.trafficDistribution), events }
  }
  const hinted = withTopologyHints(plan, topology.shares)
  if ('disabled' in hinted) {
    topology.removeHints(key, family)
    const why = topology.isWithoutNodes ? NO_NODES : hinted.disabled
    return { plan: withoutHints(plan), events: [disabledEvent(why, family)] }
  }
  const isFirst = !topology.hasHints(key)
  topology.setHints(key, family, hinted.hints)
  return { plan: hinted.plan, events: isFirst ? [enabledEvent(family)] : [] }
}

function enabledEvent(family: IpFamily): HintEvent {
  const message = `${ENABLED}, addressType: ${family}`
  return { type: 'Normal', reason: 'TopologyAwareHintsEnabled', message }
}

function disabledEvent(why: string, family: IpFamily): HintEvent {
  const message = `${why}, addressType: ${family}`
  return { type: 'Warning', reason: 'TopologyAwareHintsDisabled', message }
}

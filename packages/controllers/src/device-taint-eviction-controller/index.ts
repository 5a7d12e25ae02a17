/**
 * device-taint-eviction-controller: deletes pods whose devices carry NoExecute taints that their claims do not tolerate, or no
 * longer. Contract: docs/behaviour/controllers/device-taint-eviction-controller.md.
 */
import { resources } from '@gyropilot/api'
import type { DeviceTaintRule } from '@gyropilot/api'
import { runKeyedController } from '@gyropilot/runtime'
import type {
  ControllerContext,
  ControllerDescriptor,
  KeyedController,
  QueueKey,
  Reconcile,
} from '@gyropilot/runtime'
import { featureEnabled } from '../configuration.ts'
import type { ControllersConfiguration } from '../configuration.ts'
import { SHARED_CLAIMS_GATE, addGroupPodIndex } from '../workload-support/group-pod-index.ts'
import { NAME, RULES_GATE, SERVICE_ACCOUNT, TAINTS_GATE } from './config.ts'
import { DEVICE_TAINT_RULES } from './device-taint-rule.ts'
import { Evictions } from './evictions.ts'
import type { Eviction } from './eviction.ts'
import { parseItem } from './keys.ts'
import type { Item } from './keys.ts'
import { deletionMetrics } from './metrics.ts'
import type { RuleSurroundings } from './rule-status.ts'
import { syncPod } from './sync-pod.ts'
import { syncRule } from './sync-rule.ts'
import { watchesOf } from './watches.ts'

type Context = ControllerContext<ControllersConfiguration>

export const deviceTaintEvictionController: ControllerDescriptor<ControllersConfiguration> = {
  name: NAME,
  aliases: [],
  enabledByDefault: true,
  featureGates: ['DynamicResourceAllocation', TAINTS_GATE],
  serviceAccount: SERVICE_ACCOUNT,
  build(context) {
    const enqueue = (keys: readonly QueueKey[]): void => {
      for (const key of keys) controller.enqueue(key)
    }
    const controller = runKeyedController(deviceTaintEvictionLogic(context, enqueue), context)
    return controller
  },
}

type Observed =
  | {
      readonly item: Extract<Item, { kind: 'pod' }>
      readonly key: string
      readonly eviction: Eviction
    }
  | { readonly rule: DeviceTaintRule }

/** `enqueue`: for items that are to be worked on because of another. */
function deviceTaintEvictionLogic(
  { informers, configuration, metrics, clock, recorder, name }: Context,
  enqueue: (keys: readonly QueueKey[]) => void,
): KeyedController<Observed> {
  const withRules = featureEnabled(configuration, RULES_GATE, false)
  const podInformer = informers.informer(resources.pods)
  const pods = podInformer.lister
  const rules = withRules ? informers.informer(DEVICE_TAINT_RULES).lister : undefined
  const events = recorder(name)
  const sharesClaims = featureEnabled(configuration, SHARED_CLAIMS_GATE, false)
  if (sharesClaims) addGroupPodIndex(podInformer)
  const evictions = new Evictions({
    pods,
    sharesClaims,
    nowMs: () => clock.nowMs(),
    record: (event) => events.record(event),
  })
  const around: RuleSurroundings = {
    evictions,
    podNamed: (namespace, podName) => pods.get(namespace, podName),
  }
  const tools = { evictions, enqueue, onDeleted: deletionMetrics(metrics) }
  return {
    queueName: NAME,
    workers: configuration.deviceTaintEviction.concurrentSyncs,
    watches: watchesOf(evictions, withRules),
    alsoAwait: [informers.informer(resources.deviceclasses)],
    observe(key) {
      const item = parseItem(key)
      if (item.kind === 'rule') {
        const rule = rules?.getByKey(item.name)
        return rule?.metadata?.uid === item.uid ? { rule: rule! } : undefined
      }
      const eviction = evictions.isEvicted(item.uid) ? undefined : evictions.pendingAt(key)
      return eviction && { item, key, eviction }
    },
    reconcile: (observed): Reconcile =>
      'rule' in observed ? syncRule(observed.rule, around) : syncPod(observed, tools),
  }
}

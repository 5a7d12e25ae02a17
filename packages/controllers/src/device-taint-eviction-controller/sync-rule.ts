/** One rule that has something to tell. Step numbers are those of docs/behaviour/controllers/device-taint-eviction-controller.md, Rule item. */
import { findCondition, parseTime } from '@gyropilot/api'
import type { DeviceTaintRule } from '@gyropilot/api'
import { formatTime } from '@gyropilot/foundation'
import { apply, currentTimeMs, write } from '@gyropilot/runtime'
import type { Reconcile } from '@gyropilot/runtime'
import { FIELD_MANAGER, RULE_STATUS_PERIOD_MS } from './config.ts'
import { DEVICE_TAINT_RULES } from './device-taint-rule.ts'
import { EVICTION_IN_PROGRESS, ruleCondition } from './rule-status.ts'
import type { RuleSurroundings } from './rule-status.ts'

export function* syncRule(rule: DeviceTaintRule, around: RuleSurroundings): Reconcile {
  const nowMs = yield* currentTimeMs()
  const { name, uid, generation } = rule.metadata ?? {}
  const known = findCondition(rule.status?.conditions, EVICTION_IN_PROGRESS)
  // 2.
  if (known !== undefined && known.observedGeneration === generation) {
    const sinceMs = parseTime(known.lastTransitionTime) ?? 0
    const remainingMs = sinceMs + RULE_STATUS_PERIOD_MS - nowMs
    if (remainingMs > 0) return { requeueAfterMs: remainingMs }
  }
  // 3.
  const wanted = ruleCondition(rule, around)
  const isKnown =
    known?.status === wanted.status &&
    known.reason === wanted.reason &&
    (known.message ?? '') === wanted.message &&
    known.observedGeneration === wanted.observedGeneration
  if (isKnown) return
  const object: DeviceTaintRule = {
    apiVersion: 'resource.k8s.io/v1beta2',
    kind: 'DeviceTaintRule',
    metadata: { name, uid },
    // Nothing but the status is applied.
    status: { conditions: [{ ...wanted, lastTransitionTime: formatTime(nowMs) }] },
  } as Partial<DeviceTaintRule> as DeviceTaintRule
  const applied = yield* write(apply(DEVICE_TAINT_RULES, object, FIELD_MANAGER, 'status'))
  return applied.ok ? undefined : { error: applied.error }
}

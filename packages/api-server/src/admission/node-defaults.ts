import type { AdmissionPlugin } from '../contracts.ts'
import type { Draft } from '../registry/kind-rules.ts'
import { isFor } from './world.ts'

const NOT_READY = 'node.kubernetes.io/not-ready'
const UNREACHABLE = 'node.kubernetes.io/unreachable'
const TOLERATION_SECONDS = 300

/** A new node takes no pods until it has reported itself ready. */
export function taintNodesByCondition(): AdmissionPlugin {
  return {
    name: 'TaintNodesByCondition',
    handles: (request) => request.operation === 'CREATE' && isFor(request, '', 'nodes'),
    mutate({ object }) {
      const spec = (object!['spec'] ??= {})
      const taints: Draft[] = spec.taints ?? []
      if (taints.some((taint) => taint['key'] === NOT_READY && taint['effect'] === 'NoSchedule'))
        return
      spec.taints = [...taints, { key: NOT_READY, effect: 'NoSchedule' }]
    },
  }
}

/** Pods outlive a node that is gone for five minutes, unless they say otherwise. */
export function defaultTolerationSeconds(): AdmissionPlugin {
  return {
    name: 'DefaultTolerationSeconds',
    handles: (request) =>
      isFor(request, '', 'pods') &&
      (request.operation === 'CREATE' || request.operation === 'UPDATE'),
    mutate({ object }) {
      const { spec } = object!
      const tolerations: Draft[] = spec.tolerations ?? []
      const missing = [NOT_READY, UNREACHABLE].filter(
        (key) => !tolerations.some((toleration) => tolerates(toleration, key)),
      )
      if (missing.length === 0) return
      const added = missing.map((key) => ({
        key,
        operator: 'Exists',
        effect: 'NoExecute',
        tolerationSeconds: TOLERATION_SECONDS,
      }))
      spec.tolerations = [...tolerations, ...added]
    },
  }
}

function tolerates(toleration: Draft, key: string): boolean {
  return (
    (!toleration['key'] || toleration['key'] === key) &&
    (!toleration['effect'] || toleration['effect'] === 'NoExecute')
  )
}

import type { PodSpec, PodStatus } from '@gyropilot/api'
import type { StoredOf } from '../../../registry/kind-rules.ts'
import { compareQuantities, quantitySign } from '@gyropilot/api'

const RESOURCES = ['cpu', 'memory']

/** Guaranteed, Burstable or BestEffort; resources of the pod as a whole decide alone when they are set. */
export function qosClassOf(spec: StoredOf<PodSpec>): NonNullable<PodStatus['qosClass']> {
  const whole = spec.resources
  const parts =
    whole !== undefined
      ? [whole]
      : [...(spec.containers ?? []), ...(spec.initContainers ?? [])].map(
          (container) => container.resources ?? {},
        )
  let any = false
  let guaranteed = true
  for (const { limits = {}, requests = {} } of parts) {
    for (const name of RESOURCES) {
      const limit = limits[name]
      const request = requests[name]
      const limited = limit !== undefined && quantitySign(limit) > 0
      if (limited || (request !== undefined && quantitySign(request) > 0)) any = true
      if (!limited || request === undefined || compareQuantities(limit, request) !== 0)
        guaranteed = false
    }
  }
  if (!any) return 'BestEffort'
  return guaranteed ? 'Guaranteed' : 'Burstable'
}

import type { Stored } from '../../../registry/kind-rules.ts'
import { compareQuantities, quantitySign } from '@gyropilot/api'

const RESOURCES = ['cpu', 'memory']

/** Guaranteed, Burstable or BestEffort; resources of the pod as a whole decide alone when they are set. */
export function qosClassOf(spec: Stored): string {
  const whole: Stored | undefined = spec.resources
  const parts: readonly Stored[] =
    whole && (whole.limits || whole.requests)
      ? [whole]
      : [...(spec.containers ?? []), ...(spec.initContainers ?? [])].map(
          (container: Stored) => container.resources ?? {},
        )
  let any = false
  let guaranteed = true
  for (const { limits = {}, requests = {} } of parts) {
    for (const name of RESOURCES) {
      const limit: string | undefined = limits[name]
      const request: string | undefined = requests[name]
      const limited = limit !== undefined && quantitySign(limit) > 0
      if (limited || (request !== undefined && quantitySign(request) > 0)) any = true
      if (!limited || request === undefined || compareQuantities(limit, request) !== 0)
        guaranteed = false
    }
  }
  if (!any) return 'BestEffort'
  return guaranteed ? 'Guaranteed' : 'Burstable'
}

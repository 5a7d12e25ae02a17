/** Defaults of pod specs, beside those that templates have too. Contract: defaulting-and-validation.md, "Pod defaults". */
import type { PodSpec, Quantity, ResourceRequirements } from '@gyropilot/api'
import { defaultTemplateSpec } from '@gyropilot/api'
import type { DraftOf } from '../../../registry/kind-rules.ts'
import { addQuantities } from '@gyropilot/api'

export { defaultNetworkVolume, defaultTemplate, pullPolicyOf } from '@gyropilot/api'

export function defaultPodSpec(spec: DraftOf<PodSpec>): void {
  defaultTemplateSpec(spec)
  if (spec.hostNetwork === true) defaultHostPorts(spec)
  spec.enableServiceLinks ??= true
  for (const list of ['containers', 'initContainers', 'ephemeralContainers'] as const) {
    for (const container of spec[list] ?? [])
      if (container.resources) defaultRequests(container.resources)
  }
  defaultPodResources(spec)
}

function defaultHostPorts(spec: DraftOf<PodSpec>): void {
  for (const container of [...(spec.containers ?? []), ...(spec.initContainers ?? [])]) {
    for (const port of container.ports ?? [])
      if (!port.hostPort && port.containerPort) port.hostPort = port.containerPort
  }
}

function defaultRequests(resources: DraftOf<ResourceRequirements>): void {
  const { limits } = resources
  if (!limits) return
  const requests = (resources.requests ??= {})
  for (const [name, limit] of Object.entries(limits)) requests[name] ??= limit
}

/** Requests of the pod as a whole: the sum of the containers' requests where there are any, else the pod's limits. */
function defaultPodResources(spec: DraftOf<PodSpec>): void {
  if (!spec.resources?.limits && !spec.resources?.requests) return
  const requests = { ...spec.resources.requests }
  for (const name of ['cpu', 'memory'] as const) {
    if (requests[name] !== undefined) continue
    let total: Quantity | undefined
    for (const container of spec.containers ?? []) {
      const request = container.resources?.requests?.[name]
      if (request !== undefined)
        total = total === undefined ? request : addQuantities(total, request)
    }
    const value = total ?? spec.resources.limits?.[name]
    if (value !== undefined) requests[name] = value
  }
  if (Object.keys(requests).length > 0) spec.resources.requests = requests
}

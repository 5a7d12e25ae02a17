/** Defaults of pod specs, beside those that templates have too. Contract: defaulting-and-validation.md, "Pod defaults". */
import { defaultTemplateSpec } from '@gyropilot/api'
import type { Draft } from '../../../registry/kind-rules.ts'
import { addQuantities } from '@gyropilot/api'

export { defaultNetworkVolume, defaultTemplate, pullPolicyOf } from '@gyropilot/api'

export function defaultPodSpec(spec: Draft): void {
  defaultTemplateSpec(spec)
  if (spec.hostNetwork === true) defaultHostPorts(spec)
  spec.enableServiceLinks ??= true
  for (const list of ['containers', 'initContainers', 'ephemeralContainers']) {
    for (const container of spec[list] ?? []) defaultRequests(container.resources)
  }
  defaultPodResources(spec)
}

function defaultHostPorts(spec: Draft): void {
  for (const container of [...(spec.containers ?? []), ...(spec.initContainers ?? [])]) {
    for (const port of container.ports ?? [])
      if (!port.hostPort && port.containerPort) port.hostPort = port.containerPort
  }
}

function defaultRequests(resources: Draft): void {
  const { limits } = resources
  if (!limits) return
  const requests: Draft = (resources.requests ??= {})
  for (const name of Object.keys(limits)) requests[name] ??= limits[name]
}

/** Requests of the pod as a whole: the sum of the containers' requests where there are any, else the pod's limits. */
function defaultPodResources(spec: Draft): void {
  if (!spec.resources?.limits && !spec.resources?.requests) return
  const requests: Draft = { ...spec.resources.requests }
  for (const name of ['cpu', 'memory']) {
    if (requests[name] !== undefined) continue
    let total: string | undefined
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

/** Defaults of pod specs, beside those that templates have too. Contract: defaulting-and-validation.md, "Pod defaults". */
import type { PodSpec, ResourceRequirements } from '@gyropilot/api'
import { defaultTemplateSpec } from '@gyropilot/api'
import type { DraftOf } from '../../../registry/kind-rules.ts'
import { containerRequests, isHugePages } from './resources.ts'

export { defaultNetworkVolume, defaultTemplate, pullPolicyOf } from '@gyropilot/api'

export function defaultPodSpec(spec: DraftOf<PodSpec>): void {
  defaultTemplateSpec(spec)
  if (spec.hostNetwork === true) defaultHostPorts(spec)
  spec.enableServiceLinks ??= true
  for (const list of ['containers', 'initContainers'] as const) {
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

/**
 * Requests of a pod that has limits as a whole: what its containers request together where they do, else the pod's limits. Huge pages
 * cannot be overcommitted: their limits are the containers', too, and requests are limits.
 */
export function defaultPodResources(spec: DraftOf<PodSpec>): void {
  if (!spec.resources?.limits && !spec.resources?.requests) return
  const total = containerRequests(spec)
  const limits = { ...spec.resources.limits }
  const requests = { ...spec.resources.requests }
  for (const name of new Set([...Object.keys(total), ...Object.keys(limits)])) {
    if (!isHugePages(name)) continue
    limits[name] ??= total[name]!
    requests[name] ??= limits[name]!
  }
  if (Object.keys(limits).length === 0) return
  for (const name of ['cpu', 'memory'] as const) {
    const value = total[name] ?? limits[name]
    if (value !== undefined) requests[name] ??= value
  }
  spec.resources.limits = limits
  if (Object.keys(requests).length > 0) spec.resources.requests = requests
}

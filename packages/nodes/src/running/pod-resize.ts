/**
 * What in-place resize asks of a node: which containers differ from what was granted, what is told of it.
 * Contract: docs/behaviour/simulation/kubelet.md, "Resources and resize". Pure.
 */
import { amountOf } from '@gyropilot/api'
import type { Container, Pod, Quantity } from '@gyropilot/api'
import type { ContainerResources, LocalContainer, LocalPod } from './local-pod.ts'

type Amounts = ContainerResources['requests']

/** Containers whose resources are not those that they were granted, and what is asked for. */
export function resizesOf(
  { spec }: Pod,
  { containers }: LocalPod,
): ReadonlyMap<LocalContainer, ContainerResources> {
  const asked = [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])]
  const resizes = new Map<LocalContainer, ContainerResources>()
  for (const container of containers) {
    const found = asked.find(({ name }) => name === container.spec.name)
    if (found === undefined) continue
    const wanted = found.resources ?? {}
    if (!sameResources(wanted, container.spec.resources ?? {})) resizes.set(container, wanted)
  }
  return resizes
}

export function sameResources(a: ContainerResources, b: ContainerResources): boolean {
  return sameAmounts(a.requests, b.requests) && sameAmounts(a.limits, b.limits)
}

function sameAmounts(a: Amounts = {}, b: Amounts = {}): boolean {
  const names = new Set([...Object.keys(a), ...Object.keys(b)])
  return [...names].every((name) => sameAmount(name, a[name], b[name]))
}

function sameAmount(name: string, a: Quantity | undefined, b: Quantity | undefined): boolean {
  if (a === undefined || b === undefined) return a === b
  return amountOf(name, a) === amountOf(name, b)
}

/** Whether a container must be started again to run with other resources. */
export function needsRestart(
  { resizePolicy = [] }: Container,
  before: ContainerResources,
  after: ContainerResources,
): boolean {
  return resizePolicy.some(
    ({ resourceName: name, restartPolicy }) =>
      restartPolicy === 'RestartContainer' &&
      !(
        sameAmount(name, before.requests?.[name], after.requests?.[name]) &&
        sameAmount(name, before.limits?.[name], after.limits?.[name])
      ),
  )
}

/** The pod with what its containers were granted, in the place of what is asked for. */
export function grantedPod(pod: Pod, local: LocalPod): Pod {
  return podWith(pod, local, ({ spec }) => spec.resources)
}

/** The pod with what its containers run with, or will when they start. Init containers count with what they were granted. */
export function actualPod(pod: Pod, local: LocalPod): Pod {
  return podWith(pod, local, ({ role, resources, spec }) =>
    role === 'init' ? spec.resources : (resources ?? spec.resources),
  )
}

function podWith(
  pod: Pod,
  { containers }: LocalPod,
  resourcesOf: (container: LocalContainer) => ContainerResources | undefined,
): Pod {
  const granted = (container: Container): Container => {
    const own = containers.find(({ spec }) => spec.name === container.name)
    const resources = own && resourcesOf(own)
    return resources === undefined ? container : { ...container, resources }
  }
  const { spec } = pod
  if (spec === undefined) return pod
  return {
    ...pod,
    spec: {
      ...spec,
      ...(spec.initContainers && { initContainers: spec.initContainers.map(granted) }),
      containers: spec.containers.map(granted),
    },
  }
}

/** What an event says of a resize: the resources that are meant, by container. */
export function resizeMessage(
  what: 'started' | 'completed' | 'Deferred',
  { spec }: Pod,
  generation: number | undefined,
  error?: string,
): string {
  const summary = (containers: readonly Container[] | undefined) =>
    containers?.map(({ name, resources: { limits, requests } = {} }) => ({
      name,
      resources: { limits, requests },
    }))
  const initContainers = summary(spec?.initContainers)
  const containers = summary(spec?.containers)
  return `Pod resize ${what}: ${JSON.stringify({ initContainers, containers, generation, error })}`
}

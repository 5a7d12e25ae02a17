/** Which pods are behind a port of a Service, out of its EndpointSlices. Pure. */
import type { EndpointSlice } from '@gyropilot/api'
import { byString } from '@gyropilot/foundation'
import type { BackEnd } from './network.ts'

interface BackEndsOfPort {
  readonly slices: readonly EndpointSlice[]
  /** As in the Service; empty for a Service of one port without a name. */
  readonly portName: string
  /** Traffic stays on the node where it comes in. */
  readonly isLocal: boolean
  /** Where traffic comes in: names of the nodes that the balancer sends to. */
  readonly nodes: ReadonlySet<string>
}

interface Candidate extends BackEnd {
  readonly isReady: boolean
  readonly isServing: boolean
}

/**
 * Those that are ready; when none is, those that go away and still serve, as kube-proxy does it (KEP-1669). Empty: the balancer
 * refuses. Sorted by address, each once.
 */
export function backEndsOf({ slices, portName, isLocal, nodes }: BackEndsOfPort): BackEnd[] {
  if (nodes.size === 0) return []
  const found = new Map<string, Candidate>()
  for (const candidate of slices.flatMap((slice) => candidatesOf(slice, portName))) {
    if (isLocal && !nodes.has(candidate.nodeName ?? '')) continue
    found.set(`${candidate.ip} ${candidate.port}`, candidate)
  }
  const all = [...found.values()].sort(byString(({ ip, port }) => `${ip} ${port}`))
  const ready = all.filter(({ isReady }) => isReady)
  const chosen = ready.length > 0 ? ready : all.filter(({ isServing }) => isServing)
  return chosen.map(({ ip, port, nodeName, pod }) => ({ ip, port, nodeName, pod }))
}

function candidatesOf(slice: EndpointSlice, portName: string): readonly Candidate[] {
  if (slice.addressType !== 'IPv4') return []
  const port = slice.ports?.find(({ name = '' }) => name === portName)?.port
  if (port === undefined) return []
  return (slice.endpoints ?? []).flatMap(({ addresses, conditions = {}, nodeName, targetRef }) => {
    const pod =
      targetRef?.kind === 'Pod'
        ? { namespace: targetRef.namespace ?? '', name: targetRef.name ?? '' }
        : undefined
    const [ip] = addresses
    const isReady = conditions.ready !== false
    const isServing = conditions.serving ?? isReady
    return ip === undefined ? [] : [{ ip, port, nodeName, pod, isReady, isServing }]
  })
}

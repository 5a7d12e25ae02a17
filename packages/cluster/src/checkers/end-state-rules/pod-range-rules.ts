/** What pod ranges must be at all times and in the end. Written from the page of node-ipam-controller. */
import type { Cidr, Node, Pod } from '@gyropilot/api'
import { cidrContains, cidrsOverlap, parseCidr, parseIp, resources } from '@gyropilot/api'
import type { ClusterObserver } from '../../simulated/cluster-observer.ts'
import type { Objects } from '../../simulated/objects.ts'
import type { Report } from '../violation.ts'

/** No two nodes ever share an address, and a range is never taken back. */
export function podRanges(report: Report, objects: Objects): ClusterObserver {
  return {
    committed({ type, collection, object, previous }) {
      if (collection !== 'nodes' || type === 'deleted') return
      const node = object as Node
      const before = previous as Node | undefined
      if (rangesText(node) === rangesText(before)) return
      if (rangesText(before) !== '')
        report('pod ranges', `node ${node.metadata?.name} had ${rangesText(before)} before`)
      for (const problem of sharedRanges(objects, node)) report('pod ranges', problem)
    },
  }
}

/** Every node has its range, which is its alone, and pods have addresses of it. */
export function* podRangesAtRest(objects: Objects): Iterable<string> {
  for (const node of objects.all(resources.nodes)) {
    const { name } = node.metadata ?? {}
    const isLeaving = node.metadata?.deletionTimestamp !== undefined
    if (rangesOf(node).length === 0 && !isLeaving) yield `Node ${name} has no pod range`
    if (node.spec?.podCIDR !== node.spec?.podCIDRs?.[0])
      yield `Node ${name} has ${node.spec?.podCIDR} beside ${rangesText(node)}`
    yield* sharedRanges(objects, node)
  }
  yield* podAddresses(objects)
}

function* podAddresses(objects: Objects): Iterable<string> {
  const pods = new Map<string, string>()
  for (const pod of objects.all(resources.pods)) {
    const { metadata, spec, status } = pod
    const isOver = status?.phase === 'Succeeded' || status?.phase === 'Failed'
    const address = status?.podIP ?? ''
    const node = objects.find(resources.nodes, undefined, spec?.nodeName ?? '')
    if (address === '' || isOver || spec?.hostNetwork === true) continue
    // A node that was registered anew has another range than its pods, which run on.
    if (node === undefined || isOlder(pod, node)) continue
    const name = `${metadata?.namespace}/${metadata?.name}`
    const other = pods.get(address)
    if (other !== undefined) yield `Pods ${other} and ${name} have the one address ${address}`
    pods.set(address, name)
    if (isWithin(node, address)) continue
    // The clock by which it says when it started may have been ahead. An address of a former range is nobody's.
    const isNobodys = !objects.all(resources.nodes).some((any) => isWithin(any, address))
    if (isNobodys && wasMadeBefore(pod, node)) continue
    yield `Pod ${name} has ${address}, which is none of ${node.metadata?.name}`
  }
}

function isWithin(node: Node, address: string): boolean {
  const ip = parseIp(address)
  return ip !== undefined && rangesOf(node).some((range) => cidrContains(range, ip))
}

function wasMadeBefore(pod: Pod, node: Node): boolean {
  return (pod.metadata?.creationTimestamp ?? '') < (node.metadata?.creationTimestamp ?? '')
}

/** To the second, so that one of the same second counts as older. */
function isOlder({ status }: Pod, { metadata }: Node): boolean {
  return (status?.startTime ?? '') <= (metadata?.creationTimestamp ?? '')
}

function* sharedRanges(objects: Objects, node: Node): Iterable<string> {
  const ranges = rangesOf(node)
  const { name = '' } = node.metadata ?? {}
  for (const other of objects.all(resources.nodes)) {
    if (other.metadata?.name === name) continue
    const isShared = rangesOf(other).some((range) => ranges.some((own) => cidrsOverlap(own, range)))
    if (isShared) yield `nodes ${name} and ${other.metadata?.name} share ${rangesText(node)}`
  }
}

function rangesOf(node: Node | undefined): readonly Cidr[] {
  return (node?.spec?.podCIDRs ?? []).flatMap((text) => parseCidr(text) ?? [])
}

function rangesText(node: Node | undefined): string {
  return (node?.spec?.podCIDRs ?? []).join()
}

/** What pod ranges must be at all times and in the end. Written from the page of node-ipam-controller. */
import type { Cidr, Node, Pod } from '@gyropilot/api'
import { cidrContains, cidrsOverlap, parseCidr, parseIp, resources } from '@gyropilot/api'
import type { ClusterObserver } from '../../simulated/cluster-observer.ts'
import type { Objects } from '../../simulated/objects.ts'
import type { Report } from '../violation.ts'

/** No two nodes ever share an address, a range is never taken back, and pods are given addresses of their node's. */
export function podRanges(report: Report, objects: Objects): ClusterObserver {
  /** By the name of a node: also those of the ones before it, which its kubelet may still take for its own. */
  const everHad = new Map<string, readonly Cidr[]>()
  const learn = (node: Node): void => {
    const { name = '' } = node.metadata ?? {}
    everHad.set(name, [...(everHad.get(name) ?? []), ...rangesOf(node)])
  }
  for (const node of objects.all(resources.nodes)) learn(node)

  function checkRange(node: Node, before: Node | undefined): void {
    if (rangesText(node) === rangesText(before)) return
    const { name = '' } = node.metadata ?? {}
    learn(node)
    if (rangesText(before) !== '')
      report('pod ranges', `node ${name} had ${rangesText(before)} before`)
    for (const problem of sharedRanges(objects, node)) report('pod ranges', problem)
  }

  function checkAddress({ metadata, spec, status }: Pod, before: Pod | undefined): void {
    const address = status?.podIP ?? ''
    if (address === '' || address === before?.status?.podIP || spec?.hostNetwork === true) return
    if (isIn(everHad.get(spec?.nodeName ?? ''), address)) return
    report(
      'pod ranges',
      `pod ${metadata?.namespace}/${metadata?.name} was given ${address}, which ${spec?.nodeName} never had`,
    )
  }

  return {
    committed({ type, collection, object, previous }) {
      if (type === 'deleted') return
      if (collection === 'nodes') checkRange(object as Node, previous as Node | undefined)
      if (collection === 'pods') checkAddress(object as Pod, previous as Pod | undefined)
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
    // A node that was registered anew has another range than its pods, which run on. The former may be another node's by now.
    if (node === undefined || isOlder(pod, node)) continue
    const isAtHome = isIn(rangesOf(node), address)
    // The clock by which it says when it started may have been ahead.
    if (!isAtHome && wasMadeBefore(pod, node)) continue
    const name = `${metadata?.namespace}/${metadata?.name}`
    const other = pods.get(address)
    if (other !== undefined) yield `Pods ${other} and ${name} have the one address ${address}`
    pods.set(address, name)
    if (!isAtHome) yield `Pod ${name} has ${address}, which is none of ${node.metadata?.name}`
  }
}

function isIn(ranges: readonly Cidr[] | undefined, address: string): boolean {
  const ip = parseIp(address)
  return ip !== undefined && ranges?.some((range) => cidrContains(range, ip)) === true
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

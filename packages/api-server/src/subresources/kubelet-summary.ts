/**
 * /stats/summary of a simulated kubelet: what a machine and its pods use, in the form that clients of kubelets read. Contract:
 * docs/behaviour/api-server/subresources-and-admission.md, "Proxy".
 */
import { quantityToInteger } from '@gyropilot/api'
import { formatTime } from '@gyropilot/foundation'
import type { SubresourceCall } from '../contracts.ts'
import type { Kubelet, Usage } from '../kubelets/kubelet.ts'
import { running, secondsUsed, startOf } from './kubelet-metrics.ts'
import type { RunningContainer } from './kubelet-metrics.ts'

const NANO = 1e9
/** What the parts of a node use that are none of its pods'; a made-up share of what a node takes beside them. */
const SYSTEM_CONTAINERS = ['kubelet', 'runtime']
/** Inodes of a disk are made up, too: one for so many bytes. */
const BYTES_PER_INODE = 16_384

export function kubeletSummary(call: SubresourceCall, nodeName: string, kubelet: Kubelet): object {
  const { nowMs } = call
  const { node } = kubelet.usage()
  const stored = call.server.get('', 'nodes', '', nodeName)
  const capacity: Readonly<Record<string, string>> = stored?.['status']?.capacity ?? {}
  const bytesOf = (name: string): number => quantityToInteger(capacity[name] ?? '0')
  const startMs = startOf(stored, nowMs)
  const containers = running(call, kubelet)
  const ofPods = sumOf(containers)
  const beside = {
    cpuNanoCores: Math.max(0, node.cpuNanoCores - ofPods.cpuNanoCores),
    memoryBytes: Math.max(0, node.memoryBytes - ofPods.memoryBytes),
  }
  const share = {
    cpuNanoCores: Math.round(beside.cpuNanoCores / SYSTEM_CONTAINERS.length),
    memoryBytes: Math.round(beside.memoryBytes / SYSTEM_CONTAINERS.length),
  }
  const memoryLimit = bytesOf('memory')
  const disk = diskOf(bytesOf('ephemeral-storage'), nowMs)
  return {
    node: {
      nodeName,
      systemContainers: [
        ...SYSTEM_CONTAINERS.map((name) => ({ name, ...usedSince(share, startMs, nowMs) })),
        { name: 'pods', ...usedSince(ofPods, startMs, nowMs, memoryLimit) },
      ],
      ...usedSince(node, startMs, nowMs, memoryLimit),
      fs: disk,
      runtime: { imageFs: disk, containerFs: disk },
    },
    pods: [...Map.groupBy(containers, ({ uid }) => uid).values()].map((own) => podOf(own, nowMs)),
  }
}

function podOf(containers: readonly RunningContainer[], nowMs: number): object {
  const [{ pod: name, namespace, uid }] = containers as readonly [RunningContainer]
  const startMs = Math.min(...containers.map(({ startedAtMs }) => startedAtMs))
  return {
    podRef: { name, namespace, uid },
    ...usedSince(sumOf(containers), startMs, nowMs),
    containers: containers.map((one) => ({
      name: one.container,
      ...usedSince(one, one.startedAtMs, nowMs),
    })),
  }
}

function sumOf(usages: readonly Usage[]): Usage {
  return {
    cpuNanoCores: usages.reduce((sum, { cpuNanoCores }) => sum + cpuNanoCores, 0),
    memoryBytes: usages.reduce((sum, { memoryBytes }) => sum + memoryBytes, 0),
  }
}

/** `limitBytes`: how much memory there is; absent: what is available is not known. */
function usedSince(usage: Usage, startMs: number, nowMs: number, limitBytes?: number): object {
  const { cpuNanoCores, memoryBytes } = usage
  const time = formatTime(nowMs)
  return {
    startTime: formatTime(startMs),
    cpu: {
      time,
      usageNanoCores: cpuNanoCores,
      usageCoreNanoSeconds: Math.round(secondsUsed(usage, startMs, nowMs) * NANO),
    },
    memory: {
      time,
      ...(limitBytes === undefined ? {} : { availableBytes: limitBytes - memoryBytes }),
      usageBytes: memoryBytes,
      workingSetBytes: memoryBytes,
      rssBytes: memoryBytes,
      pageFaults: 0,
      majorPageFaults: 0,
    },
  }
}

/** Nothing is stored on it: what pods write stays in memory. */
function diskOf(capacityBytes: number, nowMs: number): object {
  const inodes = Math.floor(capacityBytes / BYTES_PER_INODE)
  return {
    time: formatTime(nowMs),
    availableBytes: capacityBytes,
    capacityBytes,
    usedBytes: 0,
    inodesFree: inodes,
    inodes,
    inodesUsed: 0,
  }
}

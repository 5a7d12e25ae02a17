import type { SimulatedNodeConfiguration } from '@gyropilot/nodes'

/** `node-1`, `node-2`, ... with an address and a pod range each. */
export function simulatedNodes(count: number): readonly SimulatedNodeConfiguration[] {
  return Array.from({ length: count }, (_, index) => ({
    name: `node-${index + 1}`,
    hostIp: `192.168.${Math.floor((index + 10) / 250)}.${((index + 10) % 250) + 1}`,
    podCidr: podRange(index),
  }))
}

/** 10.244.0.0/24 onward; the second byte grows after 256 nodes. */
function podRange(index: number): string {
  return `10.${244 + Math.floor(index / 256)}.${index % 256}.0/24`
}

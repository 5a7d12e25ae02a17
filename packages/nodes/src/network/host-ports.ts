/** Which pod of a node has one of its ports. Contract: docs/behaviour/simulation/kubelet.md, Network. Pure. */
import type { Pod } from '@gyropilot/api'
import type { Protocol } from '../shell/network.ts'

const LIVE_PHASES: ReadonlySet<string | undefined> = new Set(['Pending', 'Running'])
const ANY_ADDRESS: ReadonlySet<string> = new Set(['', '0.0.0.0', '::'])

interface HostPort {
  readonly address: string
  readonly port: number
  readonly protocol: Protocol
}

/** The pod that has the port at that address of its node, and the port that its container listens at. */
export function podAtHostPort(
  pods: readonly Pod[],
  { address, port, protocol }: HostPort,
): { readonly pod: Pod; readonly port: number } | undefined {
  for (const pod of pods) {
    if (!LIVE_PHASES.has(pod.status?.phase)) continue
    const { containers = [], initContainers = [], hostNetwork = false } = pod.spec ?? {}
    for (const each of [...containers, ...initContainers].flatMap(({ ports = [] }) => ports)) {
      const {
        containerPort,
        hostPort = hostNetwork ? containerPort : undefined,
        hostIP = '',
      } = each
      if (hostPort !== port || (each.protocol ?? 'TCP') !== protocol) continue
      if (ANY_ADDRESS.has(hostIP) || hostIP === address) return { pod, port: containerPort }
    }
  }
  return undefined
}

/** What kube-proxy tells of itself on a node: that it is well to everybody, how it works to programs of its machine. Contract: docs/behaviour/simulation/kubelet.md, Network. Pure. */
import { responseBytes } from './response-bytes.ts'

const HEALTH_PORT = 10_256
const METRICS_PORT = 10_249

interface Asked {
  readonly port: number
  /** By a program on the machine's own network, at a loopback address. */
  readonly isFromNode: boolean
  readonly request: Uint8Array
  readonly nowMs: number
}

/** Undefined: it does not listen there. */
export function proxyAnswer({ port, isFromNode, request, nowMs }: Asked): Uint8Array | undefined {
  const [, path = ''] =
    /^[A-Z]+ ([^ ?]+)/.exec(Buffer.from(request.subarray(0, 2_048)).toString('latin1')) ?? []
  if (port === HEALTH_PORT) {
    if (path !== '/healthz' && path !== '/livez') return notFound()
    const time = JSON.stringify(new Date(nowMs).toISOString())
    const text = `{"lastUpdated": ${time},"currentTime": ${time}, "nodeEligible": true}`
    return responseBytes(200, text, 'application/json')
  }
  if (port !== METRICS_PORT || !isFromNode) return undefined
  if (path === '/healthz') return responseBytes(200, 'ok')
  return path === '/proxyMode' ? responseBytes(200, 'iptables') : notFound()
}

function notFound(): Uint8Array {
  return responseBytes(404, '404 page not found\n')
}

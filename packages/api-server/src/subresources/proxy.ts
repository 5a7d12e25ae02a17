/**
 * Requests passed on to ports of pods, of pods behind services, and to kubelets.
 * Contract: docs/behaviour/api-server/subresources-and-admission.md, "Proxy".
 */
import { ApiError } from '../contracts.ts'
import type {
  PassedCall,
  SubresourceAnswer,
  SubresourceCall,
  SubresourceHandler,
} from '../contracts.ts'
import { notFound } from '../http/errors.ts'
import { headersPassedBack, headersPassedOn } from '../http/outgoing-calls/passed-headers.ts'
import type { PassedAnswer } from '../http/outgoing-calls/passed-answer.ts'
import type { Stored } from '@gyropilot/schema/objects'
import { parentOf } from './answers.ts'
import { withPassedLinks } from './html-links.ts'
import { KUBELET_PORT, kubeletAddress } from './kubelet-address.ts'
import { endpointPod } from '../kubelets/endpoint-pod.ts'
import type { Kubelets } from '../kubelets/kubelet.ts'
import { kubeletPage } from './kubelet-pages.ts'

/** What the URL names: `name`, `name:port` or `scheme:name:port`. */
interface ProxyTarget {
  readonly scheme: string
  readonly name: string
  readonly port: string
}

interface Endpoint {
  readonly pod: Stored
  readonly address: string
  readonly port: number
}

type Locate = (call: SubresourceCall, target: ProxyTarget) => Endpoint

/** Passes the call on to what was found. */
type Pass = () => Promise<SubresourceAnswer>

const DEFAULT_PORT = 80
const SCHEMES = ['', 'http', 'https']

export function proxies(kubelets: Kubelets | undefined): readonly SubresourceHandler[] {
  return [
    proxy('pods', (call) => passedToEndpoint(call, kubelets, podEndpoint)),
    proxy('services', (call) => passedToEndpoint(call, kubelets, serviceEndpoint)),
    proxy('nodes', (call) => passedToKubelet(call, kubelets)),
  ]
}

/** `find` throws for what is not there. */
function proxy(resource: string, find: (call: SubresourceCall) => Pass): SubresourceHandler {
  return {
    group: '',
    resource,
    subresource: 'proxy',
    methods: ['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE'],
    async handle(call) {
      const pass = find(call)
      // A page at the root could not have relative links otherwise.
      const { path, query, ownPath } = call.passed!
      if (path === '' && (call.method === 'GET' || call.method === 'HEAD'))
        return {
          code: 301,
          body: '',
          contentType: 'text/plain',
          headers: { location: `${ownPath}/${query}` },
        }
      return pass()
    },
  }
}

function targetOf({ name: text, resource }: SubresourceCall): ProxyTarget {
  const parts = text.split(':')
  const [scheme = '', name = '', port = ''] = parts.length === 3 ? parts : ['', ...parts]
  if (parts.length > 3 || !SCHEMES.includes(scheme)) {
    const kind = resource.resource.replace(/s$/, '')
    throw new ApiError(400, 'BadRequest', `invalid ${kind} request ${JSON.stringify(text)}`)
  }
  return { scheme, name, port }
}

function passedToEndpoint(
  call: SubresourceCall,
  kubelets: Kubelets | undefined,
  locate: Locate,
): Pass {
  const target = targetOf(call)
  const endpoint = locate(call, target)
  return () => passTo(call, kubelets, target, endpoint)
}

async function passTo(
  call: SubresourceCall,
  kubelets: Kubelets | undefined,
  target: ProxyTarget,
  { pod, address, port }: Endpoint,
): Promise<SubresourceAnswer> {
  const kubelet = kubelets?.kubeletOf(pod['spec'].nodeName ?? '')
  if (kubelet === undefined)
    throw unreachable(`dial tcp ${address}:${port}: connect: connection refused`)
  const { PortSocket, passOn } = await import('../http/outgoing-calls/proxy.ts')
  const socket = new PortSocket((streams) => kubelet.forward(pod, port, streams))
  const passed = call.passed!
  try {
    const answer = await passOn(
      {
        method: call.method,
        path: `${passed.path}${passed.query}`,
        headers: requestHeaders(passed, `${address}:${port}`),
        body: passed.body,
        signal: passed.signal,
        tls: target.scheme === 'https',
      },
      socket,
    )
    return passedBack(answer, passed, `${address}:${port}`)
  } catch (error) {
    socket.destroy()
    throw unreachable((error as Error).message)
  }
}

function passedBack(
  { status, headers: all, chunks }: PassedAnswer,
  { ownPath, headers: asked }: PassedCall,
  address: string,
): SubresourceAnswer {
  const headers = headersPassedBack(all)
  const { location } = all
  if (typeof location === 'string' && location.startsWith('/'))
    headers['location'] = `${ownPath}${location}`
  const contentType = String(all['content-type'] ?? 'application/octet-stream')
  const isHtml = /^text\/html\b/i.test(contentType) && all['content-encoding'] === undefined
  if (!isHtml) return { code: status, body: chunks, contentType, headers }
  delete headers['content-length']
  const hosts = [address, ...(typeof asked['host'] === 'string' ? [asked['host']] : [])]
  return { code: status, body: withPassedLinks(chunks, { ownPath, hosts }), contentType, headers }
}

function requestHeaders(
  { headers, path, ownPath, query }: PassedCall,
  host: string,
): Record<string, string | readonly string[]> {
  return { host, ...headersPassedOn(headers), 'x-forwarded-uri': `${ownPath}${path}${query}` }
}

function podEndpoint(call: SubresourceCall, { name, port }: ProxyTarget): Endpoint {
  const pod = parentOf({ ...call, name })
  const address: string = pod['status']?.podIP ?? ''
  if (address === '') throw new ApiError(400, 'BadRequest', 'address not allowed')
  const ports: { containerPort: number; name?: string }[] = (pod['spec'].containers ?? []).flatMap(
    (container: Stored) => container.ports ?? [],
  )
  const number =
    port === ''
      ? (ports[0]?.containerPort ?? DEFAULT_PORT)
      : (ports.find((entry) => entry.name === port)?.containerPort ?? Number(port))
  return { pod, address, port: checkedPort(number, port) }
}

function checkedPort(number: number, shown: string): number {
  if (Number.isInteger(number) && number > 0 && number < 65_536) return number
  throw new ApiError(400, 'BadRequest', `invalid port ${JSON.stringify(shown)}`)
}

/** The first ready pod that has the port, among those that the Endpoints of the service name. */
function serviceEndpoint(call: SubresourceCall, { name, port }: ProxyTarget): Endpoint {
  const service = parentOf({ ...call, name })
  const portName = /^-?\d+$/.test(port) ? portNameOf(service, Number(port)) : port
  const found = call.server.get('', 'endpoints', call.namespace, name)
  if (found === undefined) throw notFound(call.resource, name)
  const subsets: readonly Stored[] = found['subsets'] ?? []
  for (const { addresses = [], ports = [] } of subsets) {
    const named = ports.find((entry: Stored) => (entry.name ?? '') === portName)
    if (named === undefined) continue
    for (const { ip, targetRef } of addresses as readonly Stored[]) {
      const pod = endpointPod({ addresses: [ip], targetRef }, call.namespace, (podName) =>
        call.server.get('', 'pods', call.namespace, podName),
      )
      if (pod !== undefined) return { pod, address: ip, port: named.port }
    }
  }
  const told = JSON.stringify(subsets.length === 0 ? name : call.name)
  throw new ApiError(503, 'ServiceUnavailable', `no endpoints available for service ${told}`)
}

function portNameOf(service: Stored, number: number): string {
  const found = service['spec'].ports?.find((entry: Stored) => entry.port === number)
  if (found !== undefined) return found.name ?? ''
  throw new ApiError(
    503,
    'ServiceUnavailable',
    `no service port ${number} found for service ${JSON.stringify(service['metadata'].name)}`,
  )
}

function passedToKubelet(call: SubresourceCall, kubelets: Kubelets | undefined): Pass {
  const { name, port } = targetOf(call)
  if (call.server.get('', 'nodes', '', name) === undefined) throw notFound(call.resource, name)
  const address = kubeletAddress(call, name)
  return async () => {
    const kubelet = kubelets?.kubeletOf(name)
    const asked = port === '' ? KUBELET_PORT : Number(port)
    if (kubelet === undefined || asked !== KUBELET_PORT)
      throw unreachable(`dial tcp ${address}:${port || KUBELET_PORT}: connect: connection refused`)
    return kubeletPage(call, name, kubelet)
  }
}

function unreachable(why: string): ApiError {
  return new ApiError(503, 'ServiceUnavailable', `error trying to reach service: ${why}`)
}

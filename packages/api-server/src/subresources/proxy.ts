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

function targetOf({ name: text }: SubresourceCall): ProxyTarget {
  const parts = text.split(':')
  if (parts.length === 3) return { scheme: parts[0]!, name: parts[1]!, port: parts[2]! }
  return { scheme: '', name: parts[0]!, port: parts[1] ?? '' }
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

/** The first ready pod that has the port. */
function serviceEndpoint(call: SubresourceCall, { name, port }: ProxyTarget): Endpoint {
  const service = parentOf({ ...call, name })
  const portName = /^\d+$/.test(port) ? portNameOf(service, Number(port)) : port
  const slices = call.server
    .list('discovery.k8s.io', 'endpointslices', call.namespace)
    .filter((slice) => slice['metadata'].labels?.['kubernetes.io/service-name'] === name)
  for (const { ports, endpoints } of slices as readonly Stored[]) {
    const found = ports?.find((entry: Stored) => (entry.name ?? '') === portName)
    if (found?.port === undefined) continue
    for (const endpoint of endpoints ?? []) {
      if (endpoint.conditions?.ready === false) continue
      const pod = endpointPod(endpoint, call.namespace, (podName) =>
        call.server.get('', 'pods', call.namespace, podName),
      )
      if (pod !== undefined) return { pod, address: endpoint.addresses[0], port: found.port }
    }
  }
  throw new ApiError(
    503,
    'ServiceUnavailable',
    `no endpoints available for service ${JSON.stringify(name)}`,
  )
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

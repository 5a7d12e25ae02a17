/** Where a webhook is: a URL, or a service that has to be found. Shared by admission and conversion. */
import { authoritiesProblem } from '@gyropilot/foundation/x509'
import type { OutgoingCall } from '../../http/outgoing-calls/outgoing-calls.ts'
import { PortSocket } from '../../http/outgoing-calls/proxy.ts'
import { cleanedPath } from '../../http/outgoing-calls/written-urls.ts'
import { endpointPod } from '../../kubelets/endpoint-pod.ts'
import type { Kubelets } from '../../kubelets/kubelet.ts'
import type { Stored } from '../../registry/kind-rules.ts'
import type { Store } from '../../storage/store.ts'

interface ServiceReference {
  readonly namespace: string
  readonly name: string
  readonly port: number
}

/** Finds out where to connect for a service. Throws Error with the text to show. */
export type ServiceResolver = (service: ServiceReference) => NonNullable<OutgoingCall['connectTo']>

const DEFAULT_PORT = 443

/** A clientConfig that no client can be made of. The text stands for itself. */
export class UnusableClientConfig extends Error {}

/** Throws UnusableClientConfig, or Error when the service cannot be resolved. */
export function callTarget(
  clientConfig: Stored,
  timeoutSeconds: number,
  resolve: ServiceResolver,
): Pick<OutgoingCall, 'url' | 'connectTo' | 'authorityPem' | 'timeoutMs'> {
  const { url, service, caBundle } = clientConfig
  const timeout = {
    timeoutMs: timeoutSeconds * 1000,
    ...(caBundle ? { authorityPem: authoritiesOf(caBundle) } : {}),
  }
  const query = `?timeout=${timeoutSeconds}s`
  if (service === undefined) {
    const [, base = '', path = ''] = /^(\w+:\/\/[^/?#]*)([^?#]*)/.exec(url) ?? []
    return { url: `${base}${cleanedPath(path)}${query}`, ...timeout }
  }
  const reference: ServiceReference = {
    namespace: service.namespace,
    name: service.name,
    port: service.port ?? DEFAULT_PORT,
  }
  const base = `https://${reference.name}.${reference.namespace}.svc:${reference.port}`
  const serviceUrl = `${base}${cleanedPath(service.path ?? '')}${query}`
  try {
    return { url: serviceUrl, connectTo: resolve(reference), ...timeout }
  } catch (error) {
    throw new Error(`Post ${JSON.stringify(serviceUrl)}: ${(error as Error).message}`, {
      cause: error,
    })
  }
}

function authoritiesOf(caBundle: string): string {
  const pem = Buffer.from(caBundle, 'base64').toString()
  const problem = authoritiesProblem(pem)
  if (problem !== undefined) throw new UnusableClientConfig(`could not get REST client: ${problem}`)
  return pem
}

/**
 * Services as the objects in the store say: an ExternalName leads to its name, others to an address of a ready endpoint. Pods of
 * simulated nodes have no addresses on this machine: their kubelets connect.
 */
export function serviceResolver(store: Store, kubelets?: Kubelets): ServiceResolver {
  return ({ namespace, name, port }) => {
    const key = `${namespace}/${name}`
    const spec = store.get({ collection: 'services', key })?.object['spec'] as Stored | undefined
    if (spec === undefined) throw new Error(`service ${JSON.stringify(name)} not found`)
    if (spec['type'] === 'ExternalName') return { host: spec['externalName'], port }
    const servicePort = (spec['ports'] ?? []).find(
      (candidate: Stored) => candidate['port'] === port,
    )
    if (servicePort === undefined)
      throw new Error(`no service port ${port} found for service ${JSON.stringify(name)}`)
    const { endpoint, port: number } = endpointOf(store, namespace, name, servicePort)
    const pod = endpointPod(
      endpoint,
      namespace,
      (podName) => store.get({ collection: 'pods', key: `${namespace}/${podName}` })?.object,
    )
    const kubelet = kubelets?.kubeletOf(pod?.['spec'].nodeName ?? '')
    return {
      host: endpoint['addresses'][0] as string,
      port: number,
      ...(pod !== undefined &&
        kubelet !== undefined && {
          open: () => new PortSocket((streams) => kubelet.forward(pod, number, streams)),
        }),
    }
  }
}

/** A ready endpoint and its port. Throws Error with the text to show. */
function endpointOf(
  store: Store,
  namespace: string,
  name: string,
  servicePort: Stored,
): { readonly endpoint: Stored; readonly port: number } {
  const snapshot = store.list('endpointslices.discovery.k8s.io', `${namespace}/`)
  for (const { object } of snapshot === 'expired' ? [] : snapshot.entries) {
    if (object['metadata'].labels?.['kubernetes.io/service-name'] !== name) continue
    const ports: readonly Stored[] = object['ports'] ?? []
    const port = ports.find(
      (candidate) => (candidate['name'] ?? '') === (servicePort['name'] ?? ''),
    )
    const ready = (object['endpoints'] ?? []).find(
      ({ conditions }: Stored) => conditions?.ready !== false,
    )
    if (port?.['port'] !== undefined && ready !== undefined)
      return { endpoint: ready, port: port['port'] as number }
  }
  throw new Error(`no endpoints available for service ${JSON.stringify(name)}`)
}

/** Streams into containers, through the kubelets. */
import type {
  Authorizer,
  SubresourceAnswer,
  SubresourceCall,
  SubresourceHandler,
} from '../contracts.ts'
import { badRequest, forbidden, unclassified } from '../http/errors.ts'
import type { Stored } from '@gyropilot/schema/objects'
import type { ConnectionTarget } from '../kubelets/connection-target.ts'
import { parentOf } from './answers.ts'
import { KUBELET_PORT, kubeletAddress } from './kubelet-address.ts'
import type { Kubelet, Kubelets } from '../kubelets/kubelet.ts'
import { chooseContainer } from './pod-containers.ts'
import { isAsked } from './query-flag.ts'

const MAX_PORT = 65_535

interface ConnectionParts {
  readonly authorizer: Authorizer
  readonly kubelets?: Kubelets
}

export function connections(parts: ConnectionParts): readonly SubresourceHandler[] {
  return [podStream('exec', parts), podStream('attach', parts), podStream('portforward', parts)]
}

function podStream(
  subresource: 'exec' | 'attach' | 'portforward',
  { authorizer, kubelets }: ConnectionParts,
): SubresourceHandler {
  return {
    group: '',
    resource: 'pods',
    subresource,
    methods: ['GET', 'POST'],
    async handle(call): Promise<SubresourceAnswer> {
      if (call.method === 'GET') checkMayCreate(call, authorizer)
      if (subresource === 'portforward') checkPorts(call.query)
      const pod = parentOf(call)
      const container =
        subresource === 'portforward' ? '' : chooseContainer(pod, call.query.get('container') ?? '')
      const nodeName: string = pod['spec'].nodeName ?? ''
      if (nodeName === '') throw badRequest(`pod ${call.name} does not have a host assigned`)
      const address = kubeletAddress(call, nodeName)
      const kubelet = kubelets?.kubeletOf(nodeName)
      if (kubelet === undefined)
        throw unclassified(
          `error dialing backend: dial tcp ${address}:${KUBELET_PORT}: connect: connection refused`,
        )
      const connection =
        subresource === 'portforward'
          ? portsOf(kubelet, pod, call.query)
          : commandOf(kubelet, subresource, pod, container, call.query)
      return { code: 101, body: undefined, connection }
    },
  }
}

/** WebSocket clients must use GET; what they start is a creation all the same. */
function checkMayCreate(call: SubresourceCall, authorizer: Authorizer): void {
  const { group, version, resource } = call.resource
  const { user, namespace, name, subresource } = call
  const path = `/api/${version}/namespaces/${namespace}/${resource}/${name}/${subresource}`
  const attributes = {
    user,
    verb: 'create',
    group,
    version,
    resource,
    subresource,
    namespace,
    name,
    path,
    isResourceRequest: true,
  }
  const { allowed, reason } = authorizer.authorize(attributes)
  // Only what the authorizer has to say is told: mostly nothing.
  if (!allowed) throw forbidden(call.resource, name, reason)
}

function commandOf(
  kubelet: Kubelet,
  subresource: 'exec' | 'attach',
  pod: Stored,
  container: string,
  query: URLSearchParams,
): ConnectionTarget {
  const asked = (name: string): boolean => isAsked(query, name)
  const wanted = {
    stdin: asked('stdin'),
    stdout: asked('stdout'),
    stderr: asked('stderr'),
    tty: asked('tty'),
  }
  if (!wanted.stdin && !wanted.stdout && !wanted.stderr)
    throw badRequest('you must specify at least 1 of stdin, stdout, stderr')
  const command = query.getAll('command')
  if (subresource === 'exec' && command.length === 0)
    throw badRequest('you must specify a command for exec')
  const { stdin, tty } = wanted
  const run = kubelet[subresource]({ pod, container, command, stdin, tty })
  if (run === undefined) {
    const { name, namespace } = pod['metadata']
    const why =
      subresource === 'exec'
        ? `container not found (${JSON.stringify(container)})`
        : `container ${container} not found in pod ${name}_${namespace}`
    return { kind: 'refused', why }
  }
  return { kind: 'command', wanted, run }
}

/** Before the pod is looked for. */
function checkPorts(query: URLSearchParams): void {
  for (const word of query.getAll('ports').flatMap((value) => value.split(','))) {
    const isNumber = /^\d+$/.test(word)
    if (isNumber && Number(word) <= MAX_PORT) continue
    const why = isNumber ? 'value out of range' : 'invalid syntax'
    throw badRequest(
      `cannot convert to []int32: strconv.ParseUint: parsing ${JSON.stringify(word)}: ${why}`,
    )
  }
}

function portsOf(kubelet: Kubelet, pod: Stored, query: URLSearchParams): ConnectionTarget {
  const words = query.getAll('ports').flatMap((value) => value.split(','))
  return {
    kind: 'ports',
    ports: words.map(Number),
    forward: (port, streams) => kubelet.forward(pod, port, streams),
  }
}

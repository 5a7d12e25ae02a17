/** What a container wrote. Contract: docs/behaviour/api-server/subresources-and-admission.md, "Log". */
import type { SubresourceAnswer, SubresourceCall, SubresourceHandler } from '../contracts.ts'
import { badRequest, invalid, notFound, unclassified } from '../http/errors.ts'
import type { Stored } from '../registry/kind-rules.ts'
import { FieldErrors } from '../schema/field-errors.ts'
import { parentOf } from './answers.ts'
import { chooseContainer } from './pod-containers.ts'

export interface ContainerLogRequest {
  readonly pod: Stored
  readonly container: string
  readonly follow: boolean
  readonly previous: boolean
  readonly timestamps: boolean
  readonly sinceMs?: number
  readonly tailLines?: number
  readonly limitBytes?: number
}

/** Plays the kubelet. */
export interface ContainerLogs {
  /**
   * Lines as they are written, each with its line break; with `follow` until the container ends. Undefined: the container
   * has not started, or for `previous` there was none before.
   */
  read(request: ContainerLogRequest): AsyncIterable<string> | undefined
}

const ADDRESS_TYPES = ['Hostname', 'InternalDNS', 'InternalIP', 'ExternalDNS', 'ExternalIP']
const KUBELET_PORT = 10250

export function podLog(logs: ContainerLogs | undefined): SubresourceHandler {
  return {
    group: '',
    resource: 'pods',
    subresource: 'log',
    methods: ['GET'],
    async handle(call) {
      const options = readOptions(call)
      const pod = parentOf(call)
      const container = chooseContainer(pod, call.query.get('container') ?? '')
      const nodeName: string = pod['spec'].nodeName ?? ''
      if (nodeName === '') return { code: 204, body: undefined }
      const address = kubeletAddress(call, nodeName)
      const chunks = logs?.read({ ...options, pod, container })
      if (chunks === undefined)
        throw notRunning(call, pod, container, options.previous, logs !== undefined, address)
      return textAnswer(chunks)
    },
  }
}

function textAnswer(chunks: AsyncIterable<string>): SubresourceAnswer {
  return { code: 200, contentType: 'text/plain', body: encoded(chunks) }
}

async function* encoded(chunks: AsyncIterable<string>): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) yield Buffer.from(chunk, 'utf8')
}

function notRunning(
  call: SubresourceCall,
  pod: Stored,
  container: string,
  previous: boolean,
  hasKubelet: boolean,
  address: string,
): Error {
  const { name, namespace } = pod['metadata']
  if (!hasKubelet) {
    const url = `https://${address}:${KUBELET_PORT}/containerLogs/${namespace}/${name}/${container}`
    return unclassified(
      `Get ${JSON.stringify(url)}: dial tcp ${address}:${KUBELET_PORT}: connect: connection refused`,
    )
  }
  if (previous)
    return badRequest(
      `previous terminated container ${JSON.stringify(container)} in pod ${JSON.stringify(call.name)} not found`,
    )
  const statuses: Stored[] = [
    ...(pod['status']?.containerStatuses ?? []),
    ...(pod['status']?.initContainerStatuses ?? []),
  ]
  const status = statuses.find((entry) => entry['name'] === container)
  const reason = status?.['state']?.waiting?.reason ?? 'ContainerCreating'
  return badRequest(
    `container ${JSON.stringify(container)} in pod ${JSON.stringify(call.name)} is waiting to start: ${reason}`,
  )
}

/** Where the node's kubelet listens. A missing node is reported under pods, as kube-apiserver does. */
function kubeletAddress(call: SubresourceCall, nodeName: string): string {
  const node = call.server.get('', 'nodes', '', nodeName)
  if (node === undefined) throw notFound({ group: '', resource: 'pods', kind: 'Pod' }, nodeName)
  const addresses: { type: string; address: string }[] = node['status']?.addresses ?? []
  for (const type of ADDRESS_TYPES) {
    const found = addresses.find((entry) => entry.type === type)
    if (found !== undefined) return found.address
  }
  throw unclassified('no preferred addresses found; known addresses: []')
}

function readOptions(call: SubresourceCall): Omit<ContainerLogRequest, 'pod' | 'container'> {
  const { query, nowMs } = call
  const errors = new FieldErrors()
  const tailLines = integer(query, 'tailLines')
  const limitBytes = integer(query, 'limitBytes')
  const sinceSeconds = integer(query, 'sinceSeconds')
  const sinceTime = query.get('sinceTime')
  if (tailLines !== undefined && tailLines < 0)
    errors.invalid('tailLines', tailLines, 'must be greater than or equal to 0')
  if (limitBytes !== undefined && limitBytes < 1)
    errors.invalid('limitBytes', limitBytes, 'must be greater than 0')
  if (sinceSeconds !== undefined && sinceTime !== null) {
    errors.forbidden('[]', 'at most one of `sinceTime` or `sinceSeconds` may be specified')
  } else if (sinceSeconds !== undefined && sinceSeconds < 1)
    errors.invalid('sinceSeconds', sinceSeconds, 'must be greater than 0')
  if (errors.list.length > 0) throw invalid('', 'PodLogOptions', call.name, errors.list)
  const sinceMs =
    sinceSeconds !== undefined
      ? nowMs - sinceSeconds * 1000
      : sinceTime === null
        ? undefined
        : Date.parse(sinceTime)
  return {
    follow: flag(query, 'follow'),
    previous: flag(query, 'previous'),
    timestamps: flag(query, 'timestamps'),
    ...(sinceMs === undefined ? {} : { sinceMs }),
    ...(tailLines === undefined ? {} : { tailLines }),
    ...(limitBytes === undefined ? {} : { limitBytes }),
  }
}

function integer(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name)
  if (text === null || text === '') return undefined
  if (!/^[+-]?\d+$/.test(text))
    throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`)
  return Number(text)
}

function flag(query: URLSearchParams, name: string): boolean {
  const text = query.get(name)
  return text !== null && !['false', '0'].includes(text.toLowerCase())
}

/** What a container wrote. Contract: docs/behaviour/api-server/subresources-and-admission.md, "Log". */
import type { SubresourceAnswer, SubresourceCall, SubresourceHandler } from '../contracts.ts'
import { badRequest, invalid, unclassified } from '../http/errors.ts'
import { parseInteger } from '../http/query-numbers.ts'
import { parseGoTime, TIME_LAYOUT } from '@gyropilot/foundation'
import type { Stored } from '@gyropilot/schema/objects'
import { FieldErrors } from '@gyropilot/schema/field-errors'
import { parentOf } from './answers.ts'
import { KUBELET_PORT, kubeletAddress } from './kubelet-address.ts'
import type { ContainerLogRequest, Kubelets } from '../kubelets/kubelet.ts'
import { chooseContainer } from './pod-containers.ts'
import { isAsked } from './query-flag.ts'

export function podLog(kubelets: Kubelets | undefined): SubresourceHandler {
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
      const kubelet = kubelets?.kubeletOf(nodeName)
      if (kubelet === undefined) throw unreachable(pod, container, address)
      const chunks = kubelet.logs({ ...options, pod, container })
      if (chunks === undefined) throw notRunning(call, pod, container, options.previous)
      return textAnswer(chunks)
    },
  }
}

function textAnswer(chunks: AsyncIterable<string>): SubresourceAnswer {
  return { code: 200, contentType: 'text/plain', body: encoded(chunks) }
}

/** Not a generator: a reader who leaves must reach the log even while it waits for its next line. */
function encoded(chunks: AsyncIterable<string>): AsyncIterable<Uint8Array> {
  return {
    [Symbol.asyncIterator]() {
      const lines = chunks[Symbol.asyncIterator]()
      return {
        async next() {
          const { done, value } = await lines.next()
          return done === true
            ? { done, value: undefined }
            : { done: false, value: Buffer.from(value, 'utf8') }
        },
        async return() {
          await lines.return?.()
          return { done: true, value: undefined }
        },
      }
    },
  }
}

function unreachable(pod: Stored, container: string, address: string): Error {
  const { name, namespace } = pod['metadata']
  const url = `https://${address}:${KUBELET_PORT}/containerLogs/${namespace}/${name}/${container}`
  return unclassified(
    `Get ${JSON.stringify(url)}: dial tcp ${address}:${KUBELET_PORT}: connect: connection refused`,
  )
}

function notRunning(
  call: SubresourceCall,
  pod: Stored,
  container: string,
  previous: boolean,
): Error {
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

function readOptions(call: SubresourceCall): Omit<ContainerLogRequest, 'pod' | 'container'> {
  const { query, nowMs } = call
  const errors = new FieldErrors()
  const sinceSeconds = integer(query, 'sinceSeconds')
  const sinceTime = timeOf(query)
  const tailLines = integer(query, 'tailLines')
  const limitBytes = integer(query, 'limitBytes')
  if (tailLines !== undefined && tailLines < 0)
    errors.invalid('tailLines', tailLines, 'must be greater than or equal to 0')
  if (limitBytes !== undefined && limitBytes < 1)
    errors.invalid('limitBytes', limitBytes, 'must be greater than 0')
  if (sinceSeconds !== undefined && sinceTime !== undefined) {
    errors.forbidden('[]', 'at most one of `sinceTime` or `sinceSeconds` may be specified')
  } else if (sinceSeconds !== undefined && sinceSeconds < 1)
    errors.invalid('sinceSeconds', sinceSeconds, 'must be greater than 0')
  // Its feature gate is closed.
  if (query.has('stream')) errors.forbidden('stream', 'may not be specified')
  if (errors.list.length > 0) throw invalid('', 'PodLogOptions', call.name, errors.list)
  const sinceMs = sinceSeconds !== undefined ? nowMs - sinceSeconds * 1000 : sinceTime
  return {
    follow: isAsked(query, 'follow'),
    previous: isAsked(query, 'previous'),
    timestamps: isAsked(query, 'timestamps'),
    ...(sinceMs === undefined ? {} : { sinceMs }),
    ...(tailLines === undefined ? {} : { tailLines }),
    ...(limitBytes === undefined ? {} : { limitBytes }),
  }
}

function integer(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name)
  return text === null ? undefined : parseInteger(text)
}

/** In milliseconds; an empty time is none. Throws 400. */
function timeOf(query: URLSearchParams): number | undefined {
  const text = query.get('sinceTime')
  if (text === null || text === '') return undefined
  const time = parseGoTime(text, TIME_LAYOUT)
  if ('error' in time) throw badRequest(time.error)
  return Date.parse(text)
}

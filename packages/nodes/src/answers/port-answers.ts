/** Who answers at a port of a simulated pod: a target that the user names, or a page that says which pod it is. */
import type { Container, Pod } from '@gyropilot/api'
import type { CertificateAndKey } from '@gyropilot/foundation/x509'
import { programOf } from '../behavior/image-program.ts'
import { opensNoPort, servesHttp } from '../commands/image-programs/agnhost-command.ts'

const PORT_FORWARD_ANNOTATION = 'sim.kubelet/port-forward'

/** A byte stream to somewhere outside of the simulation. */
export interface Dialed {
  readonly input: AsyncIterable<Uint8Array>
  write(bytes: Uint8Array): Promise<void>
  /** Nothing more will be written. */
  end(): void
  close(): void
}

/** Rejects when nothing listens there. */
export type Dial = (host: string, port: number) => Promise<Dialed>

export interface PortStreams {
  /** Who asks, with its port. Absent: somebody outside of the cluster. */
  readonly from?: string | undefined
  readonly input: AsyncIterable<Uint8Array>
  output(bytes: Uint8Array): Promise<void>
  readonly signal: AbortSignal
  /** What is said stands within TLS that nobody needs to speak: both ends are in this process. */
  readonly isWithinTls?: boolean | undefined
}

/** Speaks TLS as the server at one end of a connection; what it answers is the connection within. */
export type Secure = (streams: PortStreams, own: CertificateAndKey) => PortStreams

interface Target {
  readonly host: string
  readonly port: number
}

export interface Page {
  readonly status: number
  readonly type: string
  readonly body: Uint8Array
  /** Of what is asked for. */
  readonly location?: string
}

export interface Request {
  readonly port: number
  readonly method: string
  /** With its query. */
  readonly path: string
  /** Default: none. */
  readonly body?: string | undefined
  readonly contentType?: string | undefined
  /** Who asks, with its port. */
  readonly from?: string | undefined
}

export const PLAIN_TEXT = 'text/plain; charset=utf-8'

const REASON_PHRASES: Readonly<Record<number, string>> = {
  200: 'OK',
  301: 'Moved Permanently',
  302: 'Found',
  307: 'Temporary Redirect',
  308: 'Permanent Redirect',
  400: 'Bad Request',
  403: 'Forbidden',
  404: 'Not Found',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
}

/** What HTTP/1.1 says beside a status; nothing needs it. */
export function reasonPhrase(status: number): string {
  return REASON_PHRASES[status] ?? 'Unknown'
}

/** What a request asks for: of its query, and of the form that it sends. */
export function parametersOf({ path, body = '' }: Request): {
  readonly pathname: string
  readonly parameters: URLSearchParams
} {
  const { pathname, searchParams } = new URL(path.replace(/^\/*/, '/'), 'http://pod')
  const parameters = new URLSearchParams(body)
  for (const [name, value] of searchParams) parameters.append(name, value)
  return { pathname, parameters }
}

/** What a program of the pod answers there; undefined: the usual page. */
type Answer = (request: Request) => Promise<Page | undefined>

const REQUEST_LINE = /^[A-Z]+ \S+ HTTP\/1\.[01]\r?\n/
const BAD_REQUEST = `HTTP/1.1 400 Bad Request\r\nContent-Type: ${PLAIN_TEXT}\r\nConnection: close\r\n\r\n400 Bad Request`
const MOST_HEAD_BYTES = 65_536
const MOST_FORM_BYTES = 8_192
/** As much as the API server has a webhook judge. */
const MOST_JSON_BYTES = 8_388_608
const HEAD_END = '\r\n\r\n'

/** `8080=127.0.0.1:3000,9090=[::1]:9`; a part that cannot be read leads nowhere. */
export function targetOf(pod: Pod, port: number): Target | undefined {
  const text = pod.metadata?.annotations?.[PORT_FORWARD_ANNOTATION] ?? ''
  for (const part of text.split(',')) {
    const match = /^\s*(\d+)\s*=\s*(?:\[([^\]]+)\]|([^:\s]+)):(\d+)\s*$/.exec(part)
    if (match !== null && Number(match[1]) === port)
      return { host: match[2] ?? match[3]!, port: Number(match[4]) }
  }
  return undefined
}

/** Which of a pod's containers run now: no other listens. */
type IsRunning = (container: Container) => boolean

/**
 * Of those that run: the one that says that it listens there, else one whose program is known to; else the first, where no container
 * of the pod declares a port. Declaring them is only information, and `kubectl create deployment web --image=nginx` declares none.
 */
export function listener(
  { spec }: Pod,
  port: number,
  isRunning: IsRunning = () => true,
): Container | undefined {
  const all = [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])]
  const silent = all.every(({ ports = [] }) => ports.length === 0)
  const containers = all.filter(isRunning)
  return (
    containers.find(({ ports = [] }) => ports.some((each) => each.containerPort === port)) ??
    containers.find((each) => servesHttp(programOf(each), port, each.env)) ??
    (silent ? containers.find((each) => !opensNoPort(programOf(each))) : undefined)
  )
}

type Connection = Pick<NonNullable<Container['livenessProbe']>, 'httpGet' | 'tcpSocket' | 'grpc'>

/**
 * Why the pod's node cannot reach a container at a port, in a kubelet's words: what answers it is what answers a port-forward. A
 * container that declares no ports at all may listen anywhere: declaring them is only information. `opensNone`: unless it is known
 * to run nothing that would.
 */
export function portProblem(
  pod: Pod,
  container: Container,
  { httpGet, tcpSocket, grpc }: Connection,
  opensNone = false,
): string | undefined {
  const { ports = [] } = container
  const port = httpGet?.port ?? tcpSocket?.port ?? grpc?.port
  if (port === undefined || (ports.length === 0 && !opensNone)) return undefined
  if (httpGet?.host || tcpSocket?.host) return undefined
  if (targetOf(pod, Number(port)) !== undefined) return undefined
  if (ports.some(({ containerPort, name }) => port === containerPort || port === name))
    return undefined
  if (servesHttp(programOf(container), Number(port), container.env)) return undefined
  const ip = pod.status?.podIP ?? ''
  const refused = `dial tcp ${ip}:${port}: connect: connection refused`
  if (httpGet === undefined) return refused
  const scheme = (httpGet.scheme ?? 'HTTP').toLowerCase()
  const path = `/${(httpGet.path ?? '').replace(/^\//, '')}`
  return `Get "${scheme}://${ip}:${port}${path}": ${refused}`
}

/** Serves one connection; resolves with a text when nobody listens. */
export async function servePort(
  pod: Pod,
  port: number,
  streams: PortStreams,
  dial: Dial | undefined,
  answer: Answer = async () => undefined,
  isRunning?: IsRunning,
): Promise<string | undefined> {
  const target = targetOf(pod, port)
  if (target !== undefined && dial !== undefined) {
    try {
      await relay(streams, await dial(target.host, target.port))
      return undefined
    } catch (error) {
      return failureText(
        pod,
        port,
        `dial ${target.host}:${target.port}: ${(error as Error).message}`,
      )
    }
  }
  if (listener(pod, port, isRunning) !== undefined) {
    await answerRequests(pod, port, streams, answer)
    return undefined
  }
  return refusedText(pod, port)
}

/** Why nobody answers at a port. */
export function refusedText(pod: Pod, port: number): string {
  const why =
    listener(pod, port) === undefined
      ? 'no container of the simulated pod has this containerPort'
      : 'what would listen there does not run'
  return failureText(
    pod,
    port,
    `dial tcp4 127.0.0.1:${port}: connect: connection refused: ${why}; ` +
      `annotation ${PORT_FORWARD_ANNOTATION}: "${port}=127.0.0.1:3000" leads it to a program of yours`,
  )
}

function failureText({ metadata }: Pod, port: number, why: string): string {
  const { name, namespace, uid } = metadata ?? {}
  return `error forwarding port ${port} to pod ${name}_${namespace}(${uid}): ${why}`
}

async function relay({ input, output, signal }: PortStreams, dialed: Dialed): Promise<void> {
  const close = (): void => dialed.close()
  signal.addEventListener('abort', close, { once: true })
  const sending = (async () => {
    for await (const chunk of input) await dialed.write(chunk)
    dialed.end()
  })()
  try {
    for await (const chunk of dialed.input) await output(chunk)
  } finally {
    signal.removeEventListener('abort', close)
    dialed.close()
    sending.catch(() => {})
  }
}

/** HTTP/1.1, as little of it as a browser and curl need: what no program answers gets a short page. */
async function answerRequests(
  pod: Pod,
  port: number,
  streams: PortStreams,
  answer: Answer,
): Promise<void> {
  const chunks = streams.input[Symbol.asyncIterator]()
  try {
    const asked = await readRequest(chunks)
    if (asked === 'no HTTP') return await streams.output(Buffer.from(BAD_REQUEST))
    if (asked !== undefined) await answerRequest(pod, port, streams, asked, answer)
  } finally {
    // A socket is closed by whoever leaves it unread: not before the answer is out.
    await chunks.return?.()
  }
}

async function answerRequest(
  pod: Pod,
  port: number,
  streams: PortStreams,
  asked: Asked,
  answer: Answer,
): Promise<void> {
  const { method, path } = asked
  const { name, namespace } = pod.metadata ?? {}
  const usual = `simulated pod ${namespace}/${name} on ${pod.spec?.nodeName}: port ${port}, ${method} ${path}\n`
  const page = (await answer({ ...asked, port, from: streams.from })) ?? {
    status: 200,
    type: PLAIN_TEXT,
    body: Buffer.from(usual),
  }
  await streams.output(pageBytes(page, method))
}

/** A page as HTTP/1.1 answers it, after which the connection ends. */
export function pageBytes({ status, type, body, location }: Page, method = 'GET'): Uint8Array {
  const head = [
    `HTTP/1.1 ${status} ${reasonPhrase(status)}`,
    `Content-Type: ${type}`,
    `Content-Length: ${body.length}`,
    ...(location === undefined ? [] : [`Location: ${location}`]),
    'Connection: close',
  ]
  return Buffer.concat([
    Buffer.from(`${head.join('\r\n')}\r\n\r\n`),
    ...(method === 'HEAD' ? [] : [body]),
  ])
}

type Asked = Pick<Request, 'method' | 'path' | 'body' | 'contentType'>

/** Undefined: it ended before it was whole, or its head has no end. */
async function readRequest(
  chunks: AsyncIterator<Uint8Array>,
): Promise<Asked | 'no HTTP' | undefined> {
  let text = ''
  let head: string | undefined
  for (let next = await chunks.next(); next.done !== true; next = await chunks.next()) {
    text += Buffer.from(next.value).toString('latin1')
    if (head === undefined) {
      if (text.includes('\n') && !REQUEST_LINE.test(text)) return 'no HTTP'
      const end = text.indexOf(HEAD_END)
      if (end > MOST_HEAD_BYTES || (end === -1 && text.length > MOST_HEAD_BYTES)) return undefined
      if (end === -1) continue
      head = text.slice(0, end)
      text = text.slice(end + HEAD_END.length)
    }
    const contentType = headerOf(head, 'content-type')
    const most = contentType === 'application/json' ? MOST_JSON_BYTES : MOST_FORM_BYTES
    const length = Number(headerOf(head, 'content-length') ?? 0)
    // What is longer is no form and no review: nobody here reads it.
    if (text.length < length && length <= most) continue
    const [line = ''] = head.split('\r\n', 1)
    const [method = 'GET', path = '/'] = line.split(' ')
    const body = Buffer.from(text, 'latin1').toString()
    return { method, path, body, contentType }
  }
  return undefined
}

function headerOf(head: string, name: string): string | undefined {
  return new RegExp(`\\r\\n${name}:[ \\t]*([^\\r]*)`, 'i').exec(head)?.[1]
}

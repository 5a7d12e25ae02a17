/** HTTPS calls from the server to webhooks. Failures are worded as clients of kube-apiserver know them. */
import { request as httpsRequest } from 'node:https'
import type { Agent } from 'node:https'
import type { Duplex } from 'node:stream'
import type { Clock } from '@gyropilot/foundation'
import { readLimited } from '../limited-body.ts'
import { HandshakeError, CheckingAgent } from './agent.ts'
import { parseExact, stringifyExact } from '@gyropilot/schema/exact-json'

export interface OutgoingCall {
  /** As it is shown in errors: with the name that the caller knows. */
  readonly url: string
  /** Where to connect, when that is elsewhere: the address behind a service. */
  readonly connectTo?: {
    readonly host: string
    readonly port: number
    /** Connects. Absent: by TCP. */
    readonly open?: () => Duplex
  }
  /** PEM of the authorities to trust. Absent: those of the platform. */
  readonly authorityPem?: string
  readonly timeoutMs: number
  /** The time is the client's for each of its calls, and not this call's: errors say so. */
  readonly isClientTimeout?: boolean
  readonly body: unknown
}

export interface OutgoingCalls {
  /** The JSON value of a 2xx answer. Throws OutgoingCallError. */
  post(call: OutgoingCall): Promise<unknown>
  /** Closes idle connections. */
  stop(): void
}

export class OutgoingCallError extends Error {
  /** That the other side answered with, where that was none of success. */
  readonly status: number | undefined

  constructor(message: string, status?: number) {
    super(message)
    this.status = status
  }
}

const LARGEST_ANSWER_BYTES = 3 * 1024 * 1024 * 2

export function createOutgoingCalls(clock: Clock): OutgoingCalls {
  const agents = new Map<string, Agent>()
  const agentFor = (authorityPem: string | undefined): Agent => {
    const key = authorityPem ?? ''
    let agent = agents.get(key)
    if (agent === undefined) {
      agent = new CheckingAgent(authorityPem ? { authoritiesPem: authorityPem } : {}, clock)
      agents.set(key, agent)
    }
    return agent
  }
  return {
    post: (call) => post(call, agentFor(call.authorityPem), clock),
    stop() {
      for (const agent of agents.values()) agent.destroy()
      agents.clear()
    },
  }
}

async function post(call: OutgoingCall, agent: Agent, clock: Clock): Promise<unknown> {
  const aborted = new AbortController()
  const timer = clock.after(call.timeoutMs, () => aborted.abort())
  const fail = (text: string): OutgoingCallError =>
    new OutgoingCallError(`Post ${JSON.stringify(call.url)}: ${text}`)
  try {
    const answer = await exchangeOnLivingConnection(call, agent, aborted.signal)
    const { status, text, contentType = 'application/json' } = answer
    if (status < 200 || status >= 300) throw new OutgoingCallError(statusText(answer), status)
    if (text !== '') return parse(text)
    throw new OutgoingCallError(
      `0-length response with status code: ${status} and content type: ${contentType}`,
    )
  } catch (error) {
    if (error instanceof OutgoingCallError) throw error
    throw fail(aborted.signal.aborted ? lateText(call) : networkText(error, call))
  } finally {
    timer.cancel()
  }
}

function lateText({ isClientTimeout }: OutgoingCall): string {
  const whose = isClientTimeout ? ' (Client.Timeout exceeded while awaiting headers)' : ''
  return `context deadline exceeded${whose}`
}

interface RawAnswer {
  readonly status: number
  readonly text: string
  readonly contentType: string | undefined
}

/** A connection that was kept open and closed by the other side meanwhile says nothing about the call. */
async function exchangeOnLivingConnection(
  call: OutgoingCall,
  agent: Agent,
  signal: AbortSignal,
): Promise<RawAnswer> {
  for (;;) {
    try {
      return await exchange(call, agent, signal)
    } catch (error) {
      if (!(error instanceof ClosedMeanwhile)) throw error
    }
  }
}

class ClosedMeanwhile extends Error {}

function exchange(call: OutgoingCall, agent: Agent, signal: AbortSignal): Promise<RawAnswer> {
  const { url, connectTo, body } = call
  const target = new URL(url)
  const content = Buffer.from(stringifyExact(body))
  const isAddress = /^[\d.]+$|^\[/.test(target.hostname)
  return new Promise((resolve, reject) => {
    const request = httpsRequest(
      {
        method: 'POST',
        agent,
        signal,
        host: connectTo?.host ?? target.hostname.replace(/^\[(.*)\]$/, '$1'),
        port: connectTo?.port ?? (target.port || 443),
        ...(connectTo?.open === undefined ? {} : { open: connectTo.open }),
        path: `${target.pathname}${target.search}`,
        // Names in certificates are those that the configuration uses, wherever the connection leads.
        ...(isAddress ? {} : { servername: target.hostname }),
        headers: {
          // With its port as it is written, as Go sends it.
          host: /^\w+:\/\/([^/?#]*)/.exec(url)![1]!,
          accept: 'application/json, */*',
          'content-type': 'application/json',
          'content-length': content.length,
          'user-agent': 'kube-apiserver-admission',
        },
      },
      (response) => {
        readLimited(response, LARGEST_ANSWER_BYTES).then(
          (text) =>
            resolve({
              status: response.statusCode ?? 0,
              text,
              contentType: response.headers['content-type'],
            }),
          reject,
        )
      },
    )
    request.on('error', (error: NodeJS.ErrnoException) => {
      const isStale = request.reusedSocket && error.code === 'ECONNRESET'
      reject(isStale ? new ClosedMeanwhile() : error)
    })
    // A request without a connection yet would tell of its end only when it has one.
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
    request.end(content)
  })
}

/** Answers may be YAML: what is no JSON is a text. */
function parse(text: string): unknown {
  if (text.trim() === '') return null
  try {
    return parseExact(text)
  } catch {
    return text
  }
}

const STATUS_TEXTS: Readonly<Record<number, string>> = {
  400: 'the server rejected our request for an unknown reason',
  401: 'the server has asked for the client to provide credentials',
  404: 'the server could not find the requested resource',
  409: 'the server reported a conflict',
  422: 'the server rejected our request due to an error in our request',
  405: 'the server does not allow this method on the requested resource',
  429: 'the server has received too many requests and has asked us to try again later',
  503: 'the server is currently unable to handle the request',
  504: 'the server was unable to return a response in the time allotted, but may still be processing the request',
}
/** Forbidden, not acceptable, a media type that is not supported: the other side is taken at its word. */
const TOLD_AS_IT_IS: ReadonlySet<number> = new Set([403, 406, 415])
const LONGEST_SHOWN = 2048

/** What a body says is repeated where it is a text. */
function statusText({ status, text, contentType = 'text/plain' }: RawAnswer): string {
  const told = messageOfStatus(text)
  if (told !== undefined) return told
  if (STATUS_TEXTS[status] !== undefined) return STATUS_TEXTS[status]
  const isText = /^\s*text\//i.test(contentType)
  const shown = isText ? text.trim().slice(0, LONGEST_SHOWN) : 'unknown'
  if (TOLD_AS_IT_IS.has(status)) return shown
  if (status >= 500)
    return `an error on the server (${JSON.stringify(shown)}) has prevented the request from succeeding`
  return `the server responded with the status code ${status} but did not return more information`
}

/** What a Status in the body says. */
function messageOfStatus(text: string): string | undefined {
  try {
    const { kind, apiVersion, message } = JSON.parse(text) as Readonly<Record<string, unknown>>
    return kind === 'Status' && apiVersion === 'v1' && typeof message === 'string'
      ? message
      : undefined
  } catch {
    return undefined
  }
}

interface SystemError {
  readonly code?: string
  readonly message: string
  readonly errors?: readonly SystemError[]
}

/** In the words of Go. */
export function networkText(
  error: unknown,
  { url, connectTo }: Pick<OutgoingCall, 'url' | 'connectTo'>,
): string {
  const { code, message, errors } = error as SystemError
  // Several addresses were tried: all failed, the first is told.
  if (errors?.[0] !== undefined && code !== undefined)
    return networkText(errors[0], { url, connectTo })
  const { hostname, port } = new URL(url)
  const where = connectTo ?? { host: hostname, port: port || '443' }
  const peer = `${where.host}:${where.port}`
  if (error instanceof HandshakeError) return message
  switch (code) {
    case 'ECONNREFUSED':
      return `dial tcp ${peer}: connect: connection refused`
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `dial tcp: lookup ${where.host}: no such host`
    case 'EHOSTUNREACH':
      return `dial tcp ${peer}: connect: no route to host`
    case 'ECONNRESET':
    case 'EPIPE':
      return 'EOF'
    case 'EPROTO':
    case 'ERR_SSL_WRONG_VERSION_NUMBER':
      return 'http: server gave HTTP response to HTTPS client'
    default:
      return message
  }
}

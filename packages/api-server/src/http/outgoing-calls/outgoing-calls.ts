/** HTTPS calls from the server to webhooks. Failures are worded as clients of kube-apiserver know them. */
import { request as httpsRequest } from 'node:https'
import type { Agent } from 'node:https'
import type { IncomingMessage } from 'node:http'
import { pipeline, type Duplex, type Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { hostAndPort } from '@gyropilot/api'
import { sleep, type Clock } from '@gyropilot/foundation'
import { readLimited } from '../limited-body.ts'
import { HandshakeError, CheckingAgent } from './agent.ts'
import { parseExact, stringifyExact } from '@gyropilot/foundation/exact-json'

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
    const answer = await answerInTime(call, agent, aborted.signal, clock)
    const { status, text, contentType = 'application/json' } = answer
    if (status < 200 || status > LAST_SUCCESS)
      throw new OutgoingCallError(statusText(answer), status)
    if (text !== '') return await parse(text)
    throw new OutgoingCallError(
      `0-length response with status code: ${status} and content type: ${contentType}`,
    )
  } catch (error) {
    if (error instanceof OutgoingCallError) throw error
    if (error instanceof BrokenAnswer)
      throw new OutgoingCallError(
        `unexpected error when reading response body. Please retry. Original error: ${aborted.signal.aborted ? lateText(call) : brokenText(error.cause)}`,
      )
    throw fail(aborted.signal.aborted ? lateText(call) : networkText(error, call))
  } finally {
    timer.cancel()
  }
}

/** Who is told when to come again does so, while there is time. */
async function answerInTime(
  call: OutgoingCall,
  agent: Agent,
  signal: AbortSignal,
  clock: Clock,
): Promise<RawAnswer> {
  for (let retries = 0; ; retries++) {
    const answer = await exchangeOnLivingConnection(call, agent, signal)
    const { status, retryAfter = '' } = answer
    const isBusy = status === 429 || status >= 500
    if (!isBusy || !/^\d+$/.test(retryAfter) || retries === MAX_RETRIES) return answer
    await sleep(clock, Number(retryAfter) * 1000, signal)
    signal.throwIfAborted()
  }
}

const MAX_RETRIES = 10
/** Other codes of success are none to Go's client. */
const LAST_SUCCESS = 206

function brokenText(cause: unknown): string {
  const { code, message } = cause as SystemError
  return code === 'ECONNRESET' ? 'unexpected EOF' : message
}

function lateText({ isClientTimeout }: OutgoingCall): string {
  const whose = isClientTimeout ? ' (Client.Timeout exceeded while awaiting headers)' : ''
  return `context deadline exceeded${whose}`
}

interface RawAnswer {
  readonly status: number
  readonly text: string
  readonly contentType: string | undefined
  readonly retryAfter: string | undefined
}

/** An answer that began and came to no good end. */
class BrokenAnswer extends Error {
  constructor(cause: unknown) {
    super('the body of the answer could not be read', { cause })
  }
}

function unpacked(response: IncomingMessage): Readable {
  if (response.headers['content-encoding'] !== 'gzip') return response
  return pipeline(response, createGunzip(), () => {})
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
  let answered = false
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
          'accept-encoding': 'gzip',
          'content-type': 'application/json',
          'content-length': content.length,
          'user-agent': 'kube-apiserver-admission',
        },
      },
      (response) => {
        answered = true
        const { headers, statusCode = 0 } = response
        readLimited(unpacked(response), LARGEST_ANSWER_BYTES).then(
          (text) =>
            resolve({
              status: statusCode,
              text,
              contentType: headers['content-type'],
              retryAfter: headers['retry-after'],
            }),
          (error: unknown) => reject(new BrokenAnswer(error)),
        )
      },
    )
    request.on('error', (error: NodeJS.ErrnoException) => {
      const isStale = request.reusedSocket && error.code === 'ECONNRESET'
      reject(isStale ? new ClosedMeanwhile() : error)
    })
    // A request without a connection yet would tell of its end only when it has one.
    signal.addEventListener(
      'abort',
      () => reject(answered ? new BrokenAnswer(signal.reason) : (signal.reason as Error)),
      { once: true },
    )
    request.end(content)
  })
}

/** Answers may be YAML; what is neither is a text. */
async function parse(text: string): Promise<unknown> {
  try {
    return parseExact(text)
  } catch {
    if (text.trimStart().startsWith('{')) return text
  }
  const { YamlError, readYaml } = await import('@gyropilot/foundation/yaml')
  try {
    return readYaml(Buffer.from(text)).root?.value ?? null
  } catch (error) {
    if (error instanceof YamlError) return text
    throw error
  }
}

const STATUS_TEXTS: Readonly<Record<number, string>> = {
  400: 'the server rejected our request for an unknown reason',
  401: 'the server has asked for the client to provide credentials',
  404: 'the server could not find the requested resource',
  405: 'the server does not allow this method on the requested resource',
  406: 'the server was unable to respond with a content type that the client supports',
  409: 'the server reported a conflict',
  422: 'the server rejected our request due to an error in our request',
  429: 'the server has received too many requests and has asked us to try again later',
  503: 'the server is currently unable to handle the request',
  504: 'the server was unable to return a response in the time allotted, but may still be processing the request',
}
const LONGEST_SHOWN = 2048
/** Forbidden, not acceptable, a media type that is not supported: the other side is taken at its word. */
const TOLD_AS_IT_IS: ReadonlySet<number> = new Set([403, 406, 415])

/** What a body says is repeated where it is a text. */
function statusText({ status, text, contentType = 'text/plain' }: RawAnswer): string {
  const told = messageOfStatus(text)
  if (told !== undefined) return told
  const isText = /^\s*text\//i.test(contentType)
  const shown = isText ? text.trim().slice(0, LONGEST_SHOWN) : 'unknown'
  if (TOLD_AS_IT_IS.has(status) && !(status === 406 && shown === 'unknown')) return shown
  if (STATUS_TEXTS[status] !== undefined) return STATUS_TEXTS[status]
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
  /** That a name was found to have, and that was tried. */
  readonly address?: string
  readonly message: string
  readonly errors?: readonly SystemError[]
}

/** In the words of Go. */
export function networkText(
  error: unknown,
  { url, connectTo }: Pick<OutgoingCall, 'url' | 'connectTo'>,
): string {
  const { code, address, message, errors } = error as SystemError
  // Several addresses were tried: all failed, the first is told.
  if (errors?.[0] !== undefined && code !== undefined)
    return networkText(errors[0], { url, connectTo })
  const { hostname, port } = new URL(url)
  const where = connectTo ?? { host: hostname, port: port || '443' }
  const peer = hostAndPort(address ?? where.host, where.port)
  if (error instanceof HandshakeError) return message
  const { rawPacket } = error as { readonly rawPacket?: Uint8Array }
  if (code?.startsWith('HPE_') && rawPacket !== undefined)
    return `net/http: HTTP/1.x transport connection broken: malformed HTTP response ${JSON.stringify(firstLine(rawPacket))}`
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

function firstLine(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('latin1').split(/\r?\n/, 1)[0]!
}

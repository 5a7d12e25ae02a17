/**
 * Sends requests: waits for the rate limit, sets the deadline, repeats what may be repeated, turns refusals into errors.
 * Contract: docs/behaviour/runtime/rest-client.md, parts "Client-side rate limit" and "Retry inside the client".
 */
import type { KubernetesObject, WatchEvent } from '@gyropilot/api'
import { errorText, formatGoDuration, sleep, withDeadline } from '@gyropilot/foundation'
import type { Clock, Logger, MetricsRegistry, ScopedSignal } from '@gyropilot/foundation'
import { clientMetrics } from '../client-metrics.ts'
import type { ClientMetrics } from '../client-metrics.ts'
import { noRateLimit } from './rate-limit.ts'
import type { RequestRateLimiter } from './rate-limit.ts'
import { addQuery } from './request.ts'
import type { ApiRequest } from './request.ts'
import {
  discardBody,
  headerOf,
  readBody,
  refuseOtherThanEvents,
  retryAfterSecondsOf,
} from '../answers/response-body.ts'
import { ServerBackoff } from './server-backoff.ts'
import type { ServerBackoffSettings } from './server-backoff.ts'
import { StatusError } from '../answers/status-error.ts'
import { isStatus, statusFromAnswer } from '../answers/status-from-answer.ts'
import { ThrottleLog } from './throttle-log.ts'
import { TransportError, isConnectionLost, isTransportTimeout } from '../transport.ts'
import type { Transport, TransportRequest, TransportResponse } from '../transport.ts'
import { handleWarnings } from './warnings.ts'
import type { WarningHandler } from './warnings.ts'
import { emptyWatch, watchStream } from '../watches/watch-stream.ts'

const MOST_RETRIES = 10
const CONNECTION_RETRY_DELAY_MS = 1000

interface RequestSenderOptions {
  readonly transport: Transport
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: MetricsRegistry
  readonly host: string
  readonly userAgent: string
  readonly rateLimiter: RequestRateLimiter
  readonly backoff: ServerBackoffSettings | undefined
  readonly requestTimeoutMs: number
  readonly onWarning: WarningHandler
}

export class RequestSender {
  readonly #options: RequestSenderOptions
  readonly #metrics: ClientMetrics
  readonly #throttleLog: ThrottleLog

  constructor(options: RequestSenderOptions) {
    this.#options = options
    this.#metrics = clientMetrics(options.metrics)
    this.#throttleLog = new ThrottleLog(options.clock, options.logger)
  }

  /** The decoded body of the answer, whatever it is; StatusError for a refusal. */
  send<T>(request: ApiRequest): Promise<T> {
    return this.#send<T>(request, false)
  }

  /** As `send`; an answer of success that is no object is ANSWER_UNDECODABLE. */
  sendForObject<T>(request: ApiRequest): Promise<T> {
    return this.#send<T>(request, true)
  }

  async #send<T>(request: ApiRequest, object: boolean): Promise<T> {
    const waiting = this.#throttle(request, request.signal)
    if (waiting !== undefined) await waiting
    const { clock, requestTimeoutMs, host } = this.#options
    using scope =
      requestTimeoutMs > 0 ? withDeadline(clock, requestTimeoutMs, request.signal) : undefined
    const bounded = scope === undefined ? request : { ...request, signal: scope.signal }
    const path =
      scope === undefined
        ? request.path
        : addQuery(request.path, 'timeout', formatGoDuration(requestTimeoutMs))
    const startedMs = clock.monotonicMs()
    try {
      const response = await this.#exchange(bounded, path, isConnectionLostOnRead)
      const what = `${request.method} ${request.path}`
      const body = await readBody(response, what, { ...request, object })
      if (response.status < 200 || response.status > 206 || isFailure(body)) {
        throw this.#refusal(request, response, body)
      }
      return body as T
    } catch (error) {
      throw scope === undefined ? error : deadlineError(error, request, scope)
    } finally {
      const elapsedSeconds = (clock.monotonicMs() - startedMs) / 1000
      this.#metrics.durationSeconds.observe(elapsedSeconds, { verb: request.method, host })
    }
  }

  /** Resolves once the server answered 200. Neither limited in rate nor in time. */
  async watch(request: ApiRequest): Promise<AsyncIterable<WatchEvent<KubernetesObject>>> {
    let response: TransportResponse
    try {
      response = await this.#exchange(request, request.path, isLostOrTimedOut)
    } catch (error) {
      if (isLostOrTimedOut(error)) return emptyWatch()
      throw error
    }
    const what = `${request.method} ${request.path}`
    if (response.status !== 200) {
      throw this.#refusal(request, response, await readBody(response, what))
    }
    await refuseOtherThanEvents(response)
    return watchStream(response, request.signal, this.#options.logger, request.decode)
  }

  /** One answer, after as many tries as the rules allow. */
  async #exchange(
    request: ApiRequest,
    path: string,
    mayRetry: (error: unknown, request: ApiRequest) => boolean,
  ): Promise<TransportResponse> {
    const { host, clock } = this.#options
    const backoff = new ServerBackoff(this.#options.backoff)
    let previous: unknown
    for (let retries = 0; ; retries++) {
      let delayMs: number
      let code: string
      let failure: unknown
      try {
        const response = await this.#attempt(request, path)
        const seconds =
          response.status === 429 || response.status >= 500
            ? retryAfterSecondsOf(response)
            : undefined
        if (seconds === undefined || retries === MOST_RETRIES) return response
        await discardBody(response)
        delayMs = Math.max(seconds * 1000, backoff.after(response.status, clock.monotonicMs()))
        code = String(response.status)
      } catch (error) {
        failure = error
        if (retries === MOST_RETRIES || request.signal?.aborted || !mayRetry(error, request)) {
          throw withPrevious(error, previous)
        }
        backoff.after(0, clock.monotonicMs())
        delayMs = CONNECTION_RETRY_DELAY_MS
        code = '<error>'
      }
      previous = failure ?? previous
      await this.#pause(request, path, delayMs, retries + 1)
      this.#metrics.retries.increment({ code, host, verb: request.method })
    }
  }

  async #pause(request: ApiRequest, path: string, delayMs: number, attempt: number): Promise<void> {
    const { clock, logger } = this.#options
    logger
      .verbosity(4)
      .info('Got a Retry-After response', { delay: `${delayMs / 1000}s`, attempt, url: path })
    try {
      await sleep(clock, delayMs, request.signal)
    } catch (error) {
      throw abortedError(request, error)
    }
    await this.#throttle(request, request.signal)
  }

  async #attempt(request: ApiRequest, path: string): Promise<TransportResponse> {
    const { transport, host, userAgent, onWarning } = this.#options
    const outgoing: TransportRequest = {
      method: request.method,
      path,
      headers: { 'user-agent': userAgent, ...request.headers },
      ...bodyOf(request),
      ...(request.watch ? { longRunning: true } : {}),
      ...(request.due ? { due: true } : {}),
      ...(request.signal === undefined ? {} : { signal: request.signal }),
    }
    let response: TransportResponse
    try {
      response = await transport.send(outgoing)
    } catch (error) {
      this.#metrics.requests.increment({ code: '<error>', host, method: request.method })
      throw error
    }
    this.#metrics.requests.increment({
      code: String(response.status),
      host,
      method: request.method,
    })
    this.#countBytes(request, response)
    handleWarnings(response, onWarning)
    return response
  }

  #countBytes(request: ApiRequest, response: TransportResponse): void {
    const labels = { verb: request.method, host: this.#options.host }
    if (response.sentBytes !== undefined)
      this.#metrics.requestBytes.observe(response.sentBytes, labels)
    const length = headerOf(response, 'content-length')
    if (length !== undefined) this.#metrics.responseBytes.observe(Number(length), labels)
  }

  /** Undefined: it need not wait. */
  #throttle(request: ApiRequest, signal: AbortSignal | undefined): Promise<void> | undefined {
    const limiter = request.watch ? noRateLimit : this.#options.rateLimiter
    if (signal?.aborted) throw abortedError(request, signal.reason)
    const waiting = limiter.wait(signal)
    if (typeof waiting !== 'number') return this.#throttled(request, waiting)
    this.#waited(request, waiting)
    return undefined
  }

  async #throttled(request: ApiRequest, waiting: Promise<number>): Promise<void> {
    let waitedMs = 0
    try {
      waitedMs = await waiting
    } catch (error) {
      throw abortedError(request, error)
    }
    this.#waited(request, waitedMs)
  }

  #waited(request: ApiRequest, waitedMs: number): void {
    if (request.watch) return
    this.#throttleLog.waited(waitedMs, request.method, request.path)
    this.#metrics.rateLimiterSeconds.observe(waitedMs / 1000, {
      verb: request.method,
      host: this.#options.host,
    })
  }

  #refusal(request: ApiRequest, response: TransportResponse, body: unknown): StatusError {
    return new StatusError(
      statusFromAnswer(request, {
        code: response.status,
        body,
        retryAfterSeconds: retryAfterSecondsOf(response),
      }),
    )
  }
}

function bodyOf({ json, repeated }: ApiRequest): Pick<TransportRequest, 'body'> {
  if (json === undefined) return {}
  return { body: repeated === true ? { json, repeated } : { json } }
}

/** An answer of success can still carry a Status that says Failure. */
function isFailure(body: unknown): boolean {
  return isStatus(body) && body.status === 'Failure'
}

/** A write may have been done before the connection was lost: only reads are sent again. */
function isConnectionLostOnRead(error: unknown, request: ApiRequest): boolean {
  return request.method === 'GET' && isConnectionLost(error)
}

function isLostOrTimedOut(error: unknown): boolean {
  return isConnectionLost(error) || isTransportTimeout(error)
}

function withPrevious(error: unknown, previous: unknown): unknown {
  if (previous === undefined || !(error instanceof TransportError)) return error
  const earlier = errorText(previous)
  if (earlier === error.message) return error
  return new TransportError(
    error.code,
    `${error.message} - error from a previous attempt: ${earlier}`,
    { cause: error },
  )
}

function abortedError(request: ApiRequest, reason: unknown): TransportError {
  if (reason instanceof TransportError) return reason
  return new TransportError(
    'ABORTED',
    `${request.method} ${request.path}: given up by its caller`,
    { cause: reason },
  )
}

/** Tells a deadline of this client from an abort by the caller. */
function deadlineError(error: unknown, request: ApiRequest, scope: ScopedSignal): unknown {
  const byDeadline = scope.signal.aborted && !(request.signal?.aborted ?? false)
  if (!byDeadline || !(error instanceof TransportError) || error.code !== 'ABORTED') return error
  return new TransportError(
    'ETIMEDOUT',
    `${request.method} ${request.path}: context deadline exceeded`,
    { cause: error },
  )
}

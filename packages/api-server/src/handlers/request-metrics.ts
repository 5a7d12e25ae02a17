/** What the server counts about its requests, under kube-apiserver's names. Contract: docs/behaviour/api-server/requests.md, "Metrics". */
import type {
  Clock,
  Counter,
  Gauge,
  Histogram,
  Labels,
  MetricsRegistry,
} from '@gyropilot/foundation'
import { ApiError } from '../contracts.ts'
import type { Answer } from '../http/answer.ts'
import { headerOf, type ServerRequest } from '../http/exchange.ts'
import { parseRequestInfo, type RequestInfo } from '../http/request-info.ts'
import type { PreparedWatch } from '../http/watch-sink.ts'

const SUBJECT = ['verb', 'group', 'version', 'resource', 'subresource', 'scope', 'component']
const DURATION_BUCKETS = [
  0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45,
  60,
]
/** Those of the durations, without what no objective asks for. */
const OBJECTIVE_BUCKETS = DURATION_BUCKETS.slice(2)
/** Whose answers are measured. */
const READING = new Set(['GET', 'LIST', 'WATCH'])
const SIZE_BUCKETS = [1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9]
const READ_VERBS: Readonly<Record<string, string>> = { list: 'LIST', watch: 'WATCH' }
/** Streams are neither read nor written: their verb is another. */
const CONNECTING = new Set(['attach', 'exec', 'log', 'portforward', 'proxy'])
const APPLY_TYPE = 'application/apply-patch'
/** Programs of the control plane, which are told apart in counts of requests. */
const SYSTEM_CLIENTS = new Set(['kube-apiserver', 'kube-controller-manager', 'kube-scheduler'])
/** Methods of paths that are no resources; whoever sends another makes no series of its own. */
const METHODS = new Set(['DELETE', 'GET', 'PATCH', 'POST', 'PUT'])
/** Paths that are counted though they are no resources, and what as. */
const COUNTED_PATHS: Readonly<Record<string, { subresource: string; component: string }>> = {
  '/healthz': { subresource: '/healthz', component: '' },
  '/livez': { subresource: '/livez', component: '' },
  '/readyz': { subresource: '/readyz', component: '' },
  '/api': { subresource: 'api', component: 'apiserver' },
  '/apis': { subresource: 'apis', component: 'apiserver' },
  '/openapi/v3': { subresource: 'openapi/v3', component: '' },
}
const DOCUMENTS = { subresource: 'openapi/v3/', component: '' }

/** Of paths that are no resources. */
const NO_SUBJECT = { group: '', version: '', resource: '', scope: '' }

/** Counted apart from the registry and shown when somebody asks: a watch of many readers must not pay for it. */
interface EventCount {
  readonly labels: Labels
  count: number
  shown: number
}

/** What a request asked for, who did, and since when. */
interface Asked {
  readonly subject: Labels | undefined
  readonly dryRun: string
  readonly systemClient: string
  readonly startMs: number
}

export class RequestMetrics {
  readonly #clock: Clock
  readonly #requests: Counter
  readonly #durations: Histogram
  readonly #objectives: Histogram
  readonly #sizes: Histogram
  readonly #terminations: Counter
  readonly #deprecated: Gauge
  readonly #longRunning: Gauge
  readonly #refusals = new WeakMap<ApiError, NonNullable<Answer['sent']>>()
  readonly #events = new Map<string, EventCount>()

  constructor(registry: MetricsRegistry, clock: Clock) {
    this.#clock = clock
    this.#requests = registry.counter({
      name: 'apiserver_request_total',
      help: 'Requests that were answered, by what they asked for and their status code.',
      labels: ['verb', 'dry_run', ...SUBJECT.slice(1), 'code', 'system_client'],
      stability: 'STABLE',
    })
    this.#durations = registry.histogram({
      name: 'apiserver_request_duration_seconds',
      help: 'Time from the arrival of a request to its answer, by what it asked for.',
      labels: ['verb', 'dry_run', ...SUBJECT.slice(1)],
      buckets: DURATION_BUCKETS,
      stability: 'STABLE',
    })
    this.#objectives = registry.histogram({
      name: 'apiserver_request_sli_duration_seconds',
      help: 'Time from the arrival of a request to its answer, as objectives of service levels are written for.',
      labels: SUBJECT,
      buckets: OBJECTIVE_BUCKETS,
    })
    this.#sizes = registry.histogram({
      name: 'apiserver_response_sizes',
      help: 'Bytes of answers to who reads, before they are compressed.',
      labels: SUBJECT,
      buckets: SIZE_BUCKETS,
      stability: 'STABLE',
    })
    this.#terminations = registry.counter({
      name: 'apiserver_request_terminations_total',
      help: 'Requests that the server ended to protect itself.',
      labels: [...SUBJECT, 'code'],
    })
    this.#deprecated = registry.gauge({
      name: 'apiserver_requested_deprecated_apis',
      help: 'Deprecated resources that somebody has asked for.',
      labels: ['group', 'version', 'resource', 'subresource', 'removed_release'],
      stability: 'STABLE',
    })
    this.#longRunning = registry.gauge({
      name: 'apiserver_longrunning_requests',
      help: 'Watches, logs and other streams that are open now.',
      labels: SUBJECT,
      stability: 'STABLE',
    })
    const events = registry.counter({
      name: 'apiserver_watch_events_total',
      help: 'Events sent to watchers, by resource.',
      labels: ['group', 'version', 'resource'],
    })
    registry.onCollect(() => {
      for (const counted of this.#events.values()) {
        events.increment(counted.labels, counted.count - counted.shown)
        counted.shown = counted.count
      }
    })
  }

  /** Somebody asked for what will be taken away one day. */
  deprecated({ group, version, resource, subresource }: RequestInfo): void {
    this.#deprecated.set(1, { group, version, resource, subresource, removed_release: '' })
  }

  /** The request was not answered, or not to its end, for the sake of others. */
  terminated(info: RequestInfo, request: ServerRequest, code: number): void {
    const subject = subjectOf(info, request)
    if (subject !== undefined) this.#terminations.increment({ ...subject, code: String(code) })
  }

  /** Another server was to answer, and is not there. */
  unavailable(request: ServerRequest): void {
    const info = parseRequestInfo(request.method, request.path)
    if (info === undefined) return
    const subject = subjectOf(info, request) ?? {
      ...NO_SUBJECT,
      verb: methodOf(request),
      subresource: info.path,
    }
    this.#terminations.increment({ ...subject, component: 'aggregator', code: '503' })
  }

  /** The answer as it is, or one whose watch is counted. */
  async measure(
    info: RequestInfo,
    request: ServerRequest,
    answered: Promise<Answer>,
  ): Promise<Answer> {
    const subject = subjectOf(info, request)
    const asked: Asked = {
      subject,
      dryRun: info.query.getAll('dryRun').includes('All') ? 'All' : '',
      systemClient: systemClientOf(request),
      startMs: this.#clock.monotonicMs(),
    }
    try {
      const answer = this.#sized(subject, await answered)
      const { body, status } = answer
      if (body.kind === 'watch')
        return this.#measuredWatch(answer, body, this.#eventCount(info), { ...asked, dryRun: '' })
      if (body.kind === 'stream' && subject !== undefined) {
        const done = (): void => this.#count(asked, status)
        const chunks = this.#measuredStream(subject, body.chunks, done)
        return { ...answer, body: { ...body, chunks } }
      }
      this.#count(asked, status)
      return answer
    } catch (error) {
      this.#count(asked, error instanceof ApiError ? error.code : 500)
      const sent = this.#sent(subject)
      if (error instanceof ApiError && sent !== undefined) this.#refusals.set(error, sent)
      throw error
    }
  }

  /** The sizes of what is read are counted when they are known. */
  #sent(subject: Labels | undefined): Answer['sent'] {
    if (subject === undefined || !READING.has(subject['verb']!)) return undefined
    return (bytes) => this.#sizes.observe(bytes, subject)
  }

  #sized(subject: Labels | undefined, answer: Answer): Answer {
    const sent = this.#sent(subject)
    return sent === undefined ? answer : { ...answer, sent }
  }

  /** What is to be told how long the answer to a counted request is that was refused. */
  sentOf(refusal: ApiError): Answer['sent'] {
    return this.#refusals.get(refusal)
  }

  /** Not a generator: a reader who leaves must reach what is behind even while that has nothing to say. */
  #measuredStream(
    subject: Labels,
    chunks: AsyncIterable<Uint8Array>,
    done: () => void,
  ): AsyncIterable<Uint8Array> {
    return {
      [Symbol.asyncIterator]: () => {
        const source = chunks[Symbol.asyncIterator]()
        let isOpen = true
        this.#longRunning.add(1, subject)
        const close = (): void => {
          if (!isOpen) return
          isOpen = false
          this.#longRunning.add(-1, subject)
          done()
        }
        return {
          async next() {
            try {
              const result = await source.next()
              if (result.done === true) close()
              return result
            } catch (error) {
              close()
              throw error
            }
          },
          async return() {
            close()
            await source.return?.()
            return { done: true, value: undefined }
          },
        }
      },
    }
  }

  #count({ subject, dryRun, systemClient, startMs }: Asked, code: number): void {
    if (subject === undefined) return
    const labels = { ...subject, dry_run: dryRun }
    this.#requests.increment({ ...labels, code: String(code), system_client: systemClient })
    const seconds = (this.#clock.monotonicMs() - startMs) / 1000
    this.#durations.observe(seconds, labels)
    this.#objectives.observe(seconds, subject)
  }

  /** Apart from the request: ten thousand watches must not each keep theirs. */
  #measuredWatch(
    answer: Answer,
    body: Extract<Answer['body'], { kind: 'watch' }>,
    counted: EventCount,
    asked: Asked,
  ): Answer {
    const { watch } = body
    const { subject } = asked
    const { status } = answer
    const start: PreparedWatch['start'] = (sink) => {
      this.#longRunning.add(1, subject)
      return watch.start({
        send: (type, object) => {
          counted.count++
          return sink.send(type, object)
        },
        isFull: () => sink.isFull(),
        ready: () => sink.ready(),
        end: () => {
          this.#longRunning.add(-1, subject)
          this.#count(asked, status)
          sink.end()
        },
      })
    }
    return { ...answer, body: { ...body, watch: { ...watch, start } } }
  }

  #eventCount({ group, version, resource }: RequestInfo): EventCount {
    const key = `${group}/${version}/${resource}`
    let counted = this.#events.get(key)
    if (counted === undefined) {
      counted = { labels: { group, version, resource }, count: 0, shown: 0 }
      this.#events.set(key, counted)
    }
    return counted
  }
}

/** Undefined: requests that are not counted. */
function subjectOf(info: RequestInfo, request: ServerRequest): Labels | undefined {
  const { isResourceRequest, group, version, resource, subresource } = info
  if (!isResourceRequest) {
    const counted = info.path.startsWith('/openapi/v3/') ? DOCUMENTS : COUNTED_PATHS[info.path]
    if (counted === undefined) return undefined
    return { ...NO_SUBJECT, verb: methodOf(request), ...counted }
  }
  return {
    verb: verbOf(info, request),
    group,
    version,
    resource,
    subresource,
    scope: scopeOf(info),
    component: 'apiserver',
  }
}

function methodOf({ method }: ServerRequest): string {
  return METHODS.has(method) ? method : 'other'
}

function verbOf({ verb, subresource }: RequestInfo, { method, headers }: ServerRequest): string {
  if (CONNECTING.has(subresource)) return 'CONNECT'
  if (verb === 'patch' && (headerOf(headers, 'content-type') ?? '').startsWith(APPLY_TYPE))
    return 'APPLY'
  // Heads are read as what they are the heads of.
  return READ_VERBS[verb] ?? (method === 'HEAD' ? 'GET' : method)
}

/** Named by what says of itself `kube-scheduler/...`; empty: somebody else. */
function systemClientOf({ headers }: ServerRequest): string {
  const agent = headerOf(headers, 'user-agent') ?? ''
  const slash = agent.indexOf('/')
  const program = slash < 0 ? '' : agent.slice(0, slash)
  return SYSTEM_CLIENTS.has(program) ? program : ''
}

function scopeOf({ verb, name, namespace }: RequestInfo): string {
  if (name !== '' || verb === 'create') return 'resource'
  return namespace === '' ? 'cluster' : 'namespace'
}

/** What the manager serves. Contract: docs/behaviour/runtime/manager.md, Serving. */
import { flagsPage, metricsContentType, statusPage } from '@gyropilot/foundation'
import type { ComponentStatus, MetricsRegistry } from '@gyropilot/foundation'
import type { DelegatedAuth } from './delegated-auth.ts'
import { componentAnswer } from './component-pages.ts'
import type { HealthChecks } from './health.ts'
import type { Answer, IncomingRequest } from './request.ts'

export interface RoutesOptions {
  readonly health: HealthChecks
  readonly metrics: MetricsRegistry
  readonly slis: MetricsRegistry
  readonly auth: DelegatedAuth
  /** HTTP/2 connections of those who are not known are good for one request. */
  readonly endsUnknown: boolean
  /** What /flagz and /statusz call the program. */
  readonly component: string
  /** The key of /configz. */
  readonly configurationGroup: string
  /** When the process began to serve. */
  readonly startedMs: number
  /** Beyond upstream, which answers 404 there: health is told under /livez and /readyz too. */
  readonly servesProbes: boolean
  /** The component configuration. */
  configz(): unknown
  /** Flag values as texts; absent: /flagz is not served. */
  flagz?(): ReadonlyMap<string, string>
  /** Absent: /statusz is not served. */
  statusz?(): Omit<ComponentStatus, 'component' | 'paths'>
  /** What --profiling adds. */
  readonly debug?: {
    setVerbosity(level: number): void
    /** By controller name; the path is what follows that name. */
    readonly controllers: ReadonlyMap<string, DebugHandler>
  }
}

/** Answers a path below /debug/controllers/`<name>`; undefined: there is nothing. */
export type DebugHandler = (
  path: string,
  query: URLSearchParams,
) => { readonly contentType: string; readonly body: string } | undefined

const TEXT = 'text/plain; charset=utf-8'
const CONTROLLERS = '/debug/controllers/'
/** Not told by /statusz. */
const UNLISTED: ReadonlySet<string> = new Set(['/debug/flags/v', '/metrics/slis', '/statusz'])

type Handler = (request: IncomingRequest) => Answer | Promise<Answer>

/** Answers one request; never rejects for anything a client can do. */
export function router(options: RoutesOptions): (request: IncomingRequest) => Promise<Answer> {
  const handlers = handlersOf(options)
  return async (request) => {
    const { isKnown, refusal } = await options.auth.judge(request)
    const answer =
      refusal ??
      (await handlers.get(request.path)?.(request)) ??
      debugAnswer(request, options) ??
      missing('404 page not found\n')
    return isKnown || !options.endsUnknown ? answer : { ...answer, endsConnection: true }
  }
}

function missing(body: string): Answer {
  return { status: 404, contentType: TEXT, body }
}

function handlersOf(options: RoutesOptions): ReadonlyMap<string, Handler> {
  const { health, metrics, slis, component, flagz, statusz, debug } = options
  // Scrapers tell by it that counters began anew.
  const headers = { 'process-start-time-unix': String(Math.floor(options.startedMs / 1_000)) }
  const exposition =
    (registry: MetricsRegistry): Handler =>
    (request) => ({
      status: 200,
      contentType: metricsContentType(request.headers['accept']?.[0]),
      sniffable: true,
      compressible: true,
      body: registry.expose(),
      headers,
    })
  const ofSlis = exposition(slis)
  const sliHandler: Handler = (request) => {
    if (request.method !== 'DELETE') return ofSlis(request)
    slis.clear()
    return { status: 200, contentType: TEXT, sniffable: true, body: 'metrics reset\n' }
  }
  const healthz: Handler = ({ query }) => ({ ...health.answer(query), contentType: TEXT })
  const handlers = new Map<string, Handler>([
    ['/healthz', healthz],
    ['/metrics', exposition(metrics)],
    ['/metrics/slis', sliHandler],
    ['/configz', () => json({ [options.configurationGroup]: options.configz() })],
  ])
  if (options.servesProbes) for (const path of ['/livez', '/readyz']) handlers.set(path, healthz)
  if (debug !== undefined) handlers.set('/debug/flags/v', (request) => putVerbosity(request, debug))
  if (flagz !== undefined) {
    handlers.set('/flagz', (request) => componentAnswer(flagsPage(component, flagz()), request))
  }
  if (statusz !== undefined) {
    handlers.set('/statusz', (request) => {
      const paths = [...handlers.keys()].filter((path) => !UNLISTED.has(path))
      const page = statusPage({ component, paths, ...statusz() })
      return componentAnswer(page, request)
    })
  }
  return handlers
}

function json(value: unknown): Answer {
  return { status: 200, contentType: 'application/json', body: JSON.stringify(value) }
}

async function putVerbosity(
  request: IncomingRequest,
  debug: NonNullable<RoutesOptions['debug']>,
): Promise<Answer> {
  const answer = (status: number, line: string): Answer => {
    return { status, contentType: 'text/plain', body: `${line}\n` }
  }
  if (request.method !== 'PUT') return answer(406, 'unsupported http method')
  const text = await request.body()
  if (!/^\d+$/.test(text))
    return answer(400, `strconv.ParseUint: parsing ${JSON.stringify(text)}: invalid syntax`)
  debug.setVerbosity(Number(text))
  return answer(200, `successfully set klog.logging.verbosity to ${text}`)
}

function debugAnswer(
  { path, query }: IncomingRequest,
  { debug }: RoutesOptions,
): Answer | undefined {
  if (debug === undefined || !path.startsWith(CONTROLLERS)) return undefined
  const rest = path.slice(CONTROLLERS.length)
  const [name = ''] = rest.split('/', 1)
  const handler = debug.controllers.get(name)
  if (handler === undefined) return undefined
  const found = handler(rest.slice(name.length), query)
  return found === undefined ? missing('\n') : { status: 200, ...found }
}

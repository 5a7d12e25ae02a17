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
    const refusal = await options.auth.refusal(request)
    if (refusal !== undefined) return refusal
    const handler = handlers.get(request.path)
    if (handler !== undefined) return handler(request)
    return (
      debugAnswer(request, options) ?? {
        status: 404,
        contentType: TEXT,
        body: '404 page not found\n',
      }
    )
  }
}

function handlersOf(options: RoutesOptions): ReadonlyMap<string, Handler> {
  const { health, metrics, slis, component, flagz, statusz, debug } = options
  // Scrapers tell by it that counters began anew.
  const headers = { 'process-start-time-unix': String(Math.floor(options.startedMs / 1_000)) }
  const accept = (request: IncomingRequest): string | undefined => request.headers['accept']?.[0]
  const exposition =
    (registry: MetricsRegistry): Handler =>
    (request) => ({
      status: 200,
      contentType: metricsContentType(accept(request)),
      body: registry.expose(),
      headers,
    })
  const healthz: Handler = ({ query }) => ({ ...health.answer(query), contentType: TEXT })
  const handlers = new Map<string, Handler>([
    ['/healthz', healthz],
    ['/metrics', exposition(metrics)],
    ['/metrics/slis', exposition(slis)],
    ['/configz', () => json({ [options.configurationGroup]: options.configz() })],
  ])
  if (options.servesProbes) for (const path of ['/livez', '/readyz']) handlers.set(path, healthz)
  if (debug !== undefined) handlers.set('/debug/flags/v', (request) => putVerbosity(request, debug))
  if (flagz !== undefined) {
    handlers.set('/flagz', (request) =>
      componentAnswer(flagsPage(component, flagz()), accept(request)),
    )
  }
  if (statusz !== undefined) {
    handlers.set('/statusz', (request) => {
      const paths = [...handlers.keys()].filter((path) => !UNLISTED.has(path))
      const page = statusPage({ component, paths, ...statusz() })
      return componentAnswer(page, accept(request))
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
  const slash = rest.indexOf('/')
  if (slash < 0) return undefined
  const found = debug.controllers.get(rest.slice(0, slash))?.(rest.slice(slash), query)
  return found === undefined ? undefined : { status: 200, ...found }
}

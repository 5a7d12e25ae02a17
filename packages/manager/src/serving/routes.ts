/** What the manager serves. Contract: docs/behaviour/runtime/manager.md, Serving. */
import type { MetricsRegistry } from '@gyropilot/foundation'
import type { DelegatedAuth, IncomingRequest } from './delegated-auth.ts'
import type { HealthChecks } from './health.ts'

export interface Answer {
  readonly status: number
  readonly contentType: string
  readonly body: string
}

export interface RoutesOptions {
  readonly health: HealthChecks
  readonly metrics: MetricsRegistry
  readonly auth: DelegatedAuth
  /** The component configuration under its group's name. */
  configz(): unknown
}

const TEXT = 'text/plain; charset=utf-8'
const METRICS = 'text/plain; version=0.0.4; charset=utf-8; escaping=underscores'

/** Answers one request; never rejects for anything a client can do. */
export async function serve(request: IncomingRequest, options: RoutesOptions): Promise<Answer> {
  const refusal = await options.auth.refusal(request)
  if (refusal !== undefined) return { ...refusal, contentType: TEXT }
  switch (request.path) {
    case '/healthz':
      return { ...options.health.answer(request.query), contentType: TEXT }
    // Beyond upstream, which answers 404 here: probes of both names work on this manager.
    case '/livez':
    case '/readyz':
      return { ...options.health.answer(request.query), contentType: TEXT }
    case '/metrics':
      return { status: 200, contentType: METRICS, body: options.metrics.expose() }
    case '/configz':
      return {
        status: 200,
        contentType: 'application/json',
        body: JSON.stringify({ 'kubecontrollermanager.config.k8s.io': options.configz() }),
      }
    default:
      return { status: 404, contentType: TEXT, body: '404 page not found\n' }
  }
}

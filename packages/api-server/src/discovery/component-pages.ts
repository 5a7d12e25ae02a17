/** `/flagz`, `/statusz` and `/metrics/slis`. Contract: docs/behaviour/api-server/requests.md, "Other endpoints". */
import {
  COMPONENT_PAGE_VERSIONS,
  PrometheusRegistry,
  flagsPage,
  metricsContentType,
  parseAccept,
  statusPage,
  type Clock,
  type ComponentPage,
} from '@gyropilot/foundation'
import { ApiError } from '../contracts.ts'
import { text, type Answer } from '../http/answer.ts'

const COMPONENT = 'apiserver'
const PATHS = ['/flagz', '/healthz', '/livez', '/metrics', '/readyz', '/statusz', '/version']
const GROUP = 'config.k8s.io'
const NEWEST = COMPONENT_PAGE_VERSIONS.at(-1)!

interface ComponentPagesParts {
  readonly clock: Clock
  /** `1.36.0` */
  readonly version: string
  readonly runtimeVersion: string
  /** What is set, under the names of kube-apiserver's flags. */
  readonly flags: ReadonlyMap<string, string>
}

/** Pages about the server itself. */
export class ComponentPages {
  readonly #parts: ComponentPagesParts
  readonly #startedMs: number
  readonly #slis = new PrometheusRegistry()
  readonly #current = this.#slis.gauge({
    name: 'kubernetes_healthcheck',
    help: 'This metric records the result of a single healthcheck.',
    labels: ['name', 'type'],
    stability: 'STABLE',
  })
  readonly #total = this.#slis.counter({
    name: 'kubernetes_healthchecks_total',
    help: 'This metric records the results of all healthcheck.',
    labels: ['name', 'status', 'type'],
    stability: 'STABLE',
  })

  constructor(parts: ComponentPagesParts) {
    this.#parts = parts
    this.#startedMs = parts.clock.nowMs()
  }

  /** A health check was asked: what `/metrics/slis` counts. */
  checked(name: string, endpoint: string, healthy: boolean): void {
    this.#current.set(healthy ? 1 : 0, { name, type: endpoint })
    this.#total.increment({ name, status: healthy ? 'success' : 'error', type: endpoint })
  }

  /** Undefined: another path. Any method is answered alike. */
  answer(path: string, accept: string | undefined): Answer | undefined {
    switch (path) {
      case '/flagz':
        return pageAnswer(flagsPage(COMPONENT, this.#parts.flags), accept)
      case '/statusz':
        return pageAnswer(this.#status(), accept)
      case '/metrics/slis':
        return this.prometheus(this.#slis.expose(), accept)
    }
    return undefined
  }

  prometheus(content: string, accept: string | undefined): Answer {
    const contentType = metricsContentType(accept)
    return {
      status: 200,
      headers: { 'process-start-time-unix': String(Math.floor(this.#startedMs / 1000)) },
      body: { kind: 'bytes', bytes: Buffer.from(content), contentType, compressible: true },
    }
  }

  #status(): ComponentPage {
    const { clock, version, runtimeVersion } = this.#parts
    return statusPage({
      component: COMPONENT,
      startedMs: this.#startedMs,
      nowMs: clock.nowMs(),
      runtimeVersion,
      version,
      paths: PATHS,
    })
  }
}

/** Objects only for those that name kind, group and version: nothing else promises them a form. */
function pageAnswer(page: ComponentPage, accept: string | undefined): Answer {
  for (const { type, parameters } of parseAccept(accept ?? '*/*')) {
    if (type === '*/*' || type === 'text/*' || type === 'text/plain') return text(200, page.text)
    if (type !== 'application/json' && type !== 'application/yaml') continue
    const { v: version = '', g, as } = parameters
    if (as !== page.kind || g !== GROUP || !COMPONENT_PAGE_VERSIONS.includes(version)) continue
    const warning = `299 - "This version of the ${page.kind.toLowerCase()} endpoint is deprecated. Please use a newer version."`
    return {
      status: 200,
      mediaType: type,
      contentType: `${type};g=${GROUP};v=${version};as=${as}`,
      headers: version === NEWEST ? {} : { warning },
      pretty: true,
      body: { kind: 'object', value: page.object(version) },
    }
  }
  const types = 'application/json, application/yaml, text/plain'
  throw new ApiError(406, 'NotAcceptable', `only the following media types are accepted: ${types}`)
}

/** Admission of one request: every plug-in in order, first those that change, later those that judge. */
import type { AdmissionPlugin, AdmissionRequest } from '../../contracts.ts'
import type { Draft, Stored } from '@gyropilot/schema/objects'
import type { AdmissionMetrics, AdmissionTimer } from '../admission-metrics.ts'
import type { Target, WriteContext } from './writes.ts'

type Mutate = NonNullable<AdmissionPlugin['mutate']>
type Validate = NonNullable<AdmissionPlugin['validate']>

/** What a plug-in does in one of the two steps, timed. */
interface Timed<Work extends Mutate | Validate> {
  readonly plugin: AdmissionPlugin
  readonly work: Work
}

export class AdmissionChain {
  readonly #mutating: readonly Timed<Mutate>[]
  readonly #validating: readonly Timed<Validate>[]
  readonly #mutateAll: (request: AdmissionRequest) => Promise<void>
  readonly #validateAll: (request: AdmissionRequest) => Promise<void>

  constructor(plugins: readonly AdmissionPlugin[], metrics?: AdmissionMetrics) {
    this.#mutating = plugins.flatMap((plugin) => {
      if (plugin.mutate === undefined) return []
      const work = plugin.mutate.bind(plugin)
      return { plugin, work: timed(metrics?.plugin(plugin.name, 'admit'), work) }
    })
    this.#validating = plugins.flatMap((plugin) => {
      if (plugin.validate === undefined) return []
      const work = plugin.validate.bind(plugin)
      return { plugin, work: timed(metrics?.plugin(plugin.name, 'validate'), work) }
    })
    this.#mutateAll = timed(metrics?.step('admit'), (request) => this.#mutate(request))
    this.#validateAll = timed(metrics?.step('validate'), (request) => this.#validate(request))
  }

  mutate(request: AdmissionRequest): Promise<void> {
    return this.#mutateAll(request)
  }

  validate(request: AdmissionRequest): Promise<void> {
    return this.#validateAll(request)
  }

  async #mutate(request: AdmissionRequest): Promise<void> {
    if (await this.#mutateOnce(request)) await this.#mutateOnce({ ...request, reinvocation: true })
  }

  /** Whether a plug-in asked for another run of all. */
  async #mutateOnce(request: AdmissionRequest): Promise<boolean> {
    let again = false
    for (const { plugin, work } of this.#mutating) {
      if (!plugin.handles(request)) continue
      const pending = work(request)
      if (pending !== undefined && (await pending) === 'reinvoke') again = true
    }
    return again
  }

  async #validate(request: AdmissionRequest): Promise<void> {
    for (const { plugin, work } of this.#validating) {
      if (!plugin.handles(request)) continue
      const pending = work(request)
      if (pending !== undefined) await pending
    }
  }

  /** Asks about a deletion of what is there: those that change first, though there is nothing to change. */
  async admitDelete(target: Target, context: WriteContext, stored: Stored): Promise<void> {
    const request = admissionRequest('DELETE', target, context, undefined, stored)
    await this.mutate(request)
    await this.validate(request)
  }

  /**
   * The body of a subresource or virtual resource that is created: bindings, evictions, token requests, reviews. `check`
   * refuses what is wrong in itself, before those that judge are asked.
   */
  async admitBody(
    target: Target,
    context: WriteContext,
    body: Draft,
    check: () => void,
  ): Promise<void> {
    const request = admissionRequest('CREATE', target, context, body, undefined)
    await this.mutate(request)
    check()
    await this.validate(request)
  }

  /** `options`: what the query asks for; plug-ins may change them. */
  async admitConnect(target: Target, context: WriteContext, options: Draft): Promise<void> {
    const request = admissionRequest('CONNECT', target, context, options, undefined)
    await this.mutate(request)
    await this.validate(request)
  }
}

function timed<R>(
  timer: AdmissionTimer | undefined,
  work: (request: AdmissionRequest) => R,
): (request: AdmissionRequest) => R {
  if (timer === undefined) return work
  return (request) => timer.time(request.operation, () => work(request))
}

export function admissionRequest(
  operation: AdmissionRequest['operation'],
  { resource, subresource, namespace, name }: Target,
  { user, dryRun, options, warn }: WriteContext,
  object: Draft | undefined,
  oldObject: Stored | undefined,
): AdmissionRequest {
  const objectName: string = name === '' ? (object?.['metadata']?.name ?? '') : name
  const scope =
    resource.info.resource === 'namespaces' && resource.info.group === '' ? objectName : namespace
  return {
    operation,
    resource: resource.info,
    subresource,
    namespace: scope,
    name: objectName,
    nameInPath: name,
    object,
    oldObject,
    user,
    dryRun,
    options,
    warn,
  }
}

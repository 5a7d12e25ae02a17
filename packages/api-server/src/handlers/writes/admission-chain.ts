/** Admission of one request: every plug-in in order, first those that change, later those that judge. */
import type { AdmissionPlugin, AdmissionRequest } from '../../contracts.ts'
import type { Draft, Stored } from '@gyropilot/schema/objects'
import type { AdmissionMetrics } from '../admission-metrics.ts'
import type { Target, WriteContext } from './writes.ts'

/** What a plug-in that changes answers. */
type MutateResult = ReturnType<NonNullable<AdmissionPlugin['mutate']>>

export class AdmissionChain {
  readonly #plugins: readonly AdmissionPlugin[]
  readonly #metrics: AdmissionMetrics | undefined

  constructor(plugins: readonly AdmissionPlugin[], metrics?: AdmissionMetrics) {
    this.#plugins = plugins
    this.#metrics = metrics
  }

  mutate(request: AdmissionRequest): Promise<void> {
    const work = (): Promise<void> => this.#mutate(request)
    return this.#metrics?.step('admit', request, work) ?? work()
  }

  validate(request: AdmissionRequest): Promise<void> {
    const work = (): Promise<void> => this.#validate(request)
    return this.#metrics?.step('validate', request, work) ?? work()
  }

  async #mutate(request: AdmissionRequest): Promise<void> {
    if (await this.#mutateOnce(request)) await this.#mutateOnce({ ...request, reinvocation: true })
  }

  /** Whether a plug-in asked for another run of all. */
  async #mutateOnce(request: AdmissionRequest): Promise<boolean> {
    let again = false
    for (const plugin of this.#plugins) {
      if (plugin.mutate === undefined || !plugin.handles(request)) continue
      const work = (): MutateResult => plugin.mutate!(request)
      const pending =
        this.#metrics === undefined
          ? work()
          : this.#metrics.plugin(plugin.name, 'admit', request, work)
      if (pending !== undefined && (await pending) === 'reinvoke') again = true
    }
    return again
  }

  async #validate(request: AdmissionRequest): Promise<void> {
    for (const plugin of this.#plugins) {
      if (plugin.validate === undefined || !plugin.handles(request)) continue
      const work = (): void | Promise<void> => plugin.validate!(request)
      const pending =
        this.#metrics === undefined
          ? work()
          : this.#metrics.plugin(plugin.name, 'validate', request, work)
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

  /** `options`: what the query asks for. A plugin that changes them changes nothing of what is done, unlike upstream. */
  async admitConnect(target: Target, context: WriteContext, options: Draft): Promise<void> {
    const request = admissionRequest('CONNECT', target, context, options, undefined)
    await this.mutate(request)
    await this.validate(request)
  }
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
    object,
    oldObject,
    user,
    dryRun,
    options,
    warn,
  }
}

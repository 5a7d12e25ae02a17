/**
 * Follows the definitions in the store: gives out names, serves what is established, clears up behind what is deleted. One
 * definition at a time, in the order of its events. Contract: docs/behaviour/api-server/custom-resources.md.
 */
import { deepEqual } from '@gyropilot/api'
import type { Clock, Logger, Timer } from '@gyropilot/foundation'
import { ApiError } from '../../contracts.ts'
import type { ServerInternals, UserInfo } from '../../contracts.ts'
import { cloneJson } from '../../registry/equality.ts'
import type { Draft, Stored } from '../../registry/kind-rules.ts'
import type { ResourceRegistry, ServedResource } from '../../registry/resource-registry.ts'
import type { StoreEvent, StoreWatch } from '../../storage/store.ts'
import {
  ESTABLISHED,
  NEVER_ESTABLISHED,
  TERMINATION_PENDING,
  UNREACHABLE,
  terminationFailed,
  TERMINATION_COMPLETED,
  TERMINATION_IN_PROGRESS,
  findCondition,
  isTrue,
  setCondition,
} from './conditions.ts'
import type { Condition } from './conditions.ts'
import { DefinedApiServices } from './api-services.ts'
import { authoritiesProblemOf } from '../conversion-validation.ts'
import type { ConversionParts } from '../conversion-webhook.ts'
import { servedResources } from '../custom-resource.ts'
import type { CustomDefinition } from '../custom-resource.ts'
import { CLEANUP_FINALIZER } from './definition-rules.ts'
import { openApiDocument } from '../openapi-document.ts'
import { judgeApproval, judgeNames } from './naming.ts'

const GROUP = 'apiextensions.k8s.io'
const RESOURCE = 'customresourcedefinitions'
const COLLECTION = `${RESOURCE}.${GROUP}`
const RETRY_MS = 5000
const MANAGER = 'kube-apiserver'

interface DefinitionControllerParts {
  readonly registry: ResourceRegistry
  readonly server: ServerInternals
  readonly clock: Clock
  readonly logger: Logger
  /** The server's own identity. */
  readonly user: UserInfo
  /** How conversion webhooks are reached; absent: not at all. */
  readonly conversion?: ConversionParts
  /** Publishes the OpenAPI document of a group version (`apis/example.com/v1`), or takes it back. */
  publish?(path: string, document: object | undefined): void
}

export class DefinitionController {
  readonly #parts: DefinitionControllerParts
  readonly #apiServices: DefinedApiServices
  /** What is served of each definition. */
  readonly #served = new Map<string, readonly ServedResource[]>()
  /** Definitions on their way out. They are served to the end, so that watches see their instances go. */
  readonly #terminating = new Set<string>()
  /** Instances of definitions that wait for their last finalizer. */
  readonly #instanceWatches = new Map<string, StoreWatch>()
  /** Definitions that could not be synced, or whose instances could not be deleted. */
  readonly #retries = new Map<string, Timer>()
  /** What the published documents were made of. */
  readonly #published = new Map<string, readonly ServedResource[]>()
  /** The group of each definition, known after it is gone. */
  readonly #groups = new Map<string, string>()
  #watch: StoreWatch | undefined
  #stopped = false
  #queue: Promise<void> = Promise.resolve()
  readonly #queued = new Set<string>()

  constructor(parts: DefinitionControllerParts) {
    this.#parts = parts
    this.#apiServices = new DefinedApiServices(parts)
  }

  /** Serves what is stored and follows what comes. */
  async start(): Promise<void> {
    const { store } = this.#parts.server
    const { revision } = store
    for (const definition of this.#all()) {
      this.#serve(definition)
      this.#enqueue(nameOf(definition))
    }
    const watch = store.watch(COLLECTION, '', revision, (event) => this.#observe(event))
    if (watch !== 'expired') this.#watch = watch
    this.#apiServices.start()
    await this.idle()
  }

  stop(): void {
    this.#stopped = true
    this.#watch?.stop()
    this.#apiServices.stop()
    for (const watch of this.#instanceWatches.values()) watch.stop()
    this.#instanceWatches.clear()
    for (const timer of this.#retries.values()) timer.cancel()
    this.#retries.clear()
  }

  /** Resolves when every definition has been looked at since its last event. */
  async idle(): Promise<void> {
    while (this.#queued.size > 0) await this.#queue
    await this.#queue
  }

  #observe({ type, object }: StoreEvent): void {
    const name = nameOf(object)
    // Routes follow the store at once; names and conditions are written afterwards.
    if (type === 'deleted') this.#withdraw(name)
    else this.#serve(object)
    this.#enqueue(name)
  }

  #enqueue(name: string): void {
    if (this.#queued.has(name)) return
    this.#queued.add(name)
    this.#queue = this.#queue.then(async () => {
      this.#queued.delete(name)
      try {
        await this.#sync(name)
      } catch (error) {
        this.#parts.logger.error(error, 'definition of a custom resource could not be synced', {
          name,
        })
        if (!this.#stopped) this.#retryLater(name)
      }
    })
  }

  async #sync(name: string): Promise<void> {
    const definition = this.#get(name)
    if (definition === undefined) {
      const group = this.#groups.get(name) ?? ''
      this.#groups.delete(name)
      this.#reconsider(group, name)
      this.#publish(group)
      return this.#apiServices.align(group)
    }
    this.#groups.set(name, definition['spec'].group)
    if (definition['metadata'].deletionTimestamp !== undefined) {
      this.#publish(definition['spec'].group)
      return this.#terminate(definition)
    }
    await this.#giveNames(definition)
    const named = this.#get(name)
    if (named !== undefined && isTrue(named, 'NamesAccepted') && !isTrue(named, 'Established')) {
      const isReachable = authoritiesProblemOf(named['spec'].conversion) === undefined
      await this.#setConditions(name, [isReachable ? ESTABLISHED : UNREACHABLE])
    }
    this.#publish(definition['spec'].group)
    await this.#apiServices.align(definition['spec'].group)
  }

  /** A name that was given back may be what another definition of the group waits for. */
  #reconsider(group: string, except: string): void {
    for (const definition of this.#all()) {
      if (definition['spec'].group !== group || nameOf(definition) === except) continue
      if (!isTrue(definition, 'NamesAccepted')) this.#enqueue(nameOf(definition))
    }
  }

  async #giveNames(definition: Stored): Promise<void> {
    const name = nameOf(definition)
    const { group } = definition['spec']
    const others = this.#all().filter(
      (other) => other['spec'].group === group && nameOf(other) !== name,
    )
    const { acceptedNames, namesAccepted, established } = judgeNames(definition, others)
    const approval = judgeApproval(definition)
    const conditions = [namesAccepted, established, approval].filter(
      (condition) => condition !== undefined,
    )
    const before: Stored = definition['status'] ?? {}
    const settled = conditions.every((condition) =>
      sameCondition(findCondition(definition, condition.type), condition),
    )
    if (settled && deepEqual(before['acceptedNames'], acceptedNames)) return
    await this.#setConditions(name, conditions, acceptedNames)
    if (!deepEqual(before['acceptedNames'], acceptedNames)) this.#reconsider(group, name)
  }

  async #setConditions(
    name: string,
    conditions: readonly Condition[],
    acceptedNames?: Draft,
  ): Promise<void> {
    const nowMs = this.#parts.clock.nowMs()
    const change = (draft: Draft): void => {
      const status = (draft['status'] ??= {}) as Draft
      if (acceptedNames !== undefined) status['acceptedNames'] = cloneJson(acceptedNames)
      for (const condition of conditions) setCondition(status, condition, nowMs)
    }
    await this.#update(name, change, { subresource: 'status', manager: MANAGER })
  }

  /** False when the definition is gone. */
  async #update(
    name: string,
    change: (draft: Draft) => void,
    options: { subresource?: string; manager?: string },
  ): Promise<boolean> {
    try {
      await this.#parts.server.update(GROUP, RESOURCE, '', name, change, {
        ...options,
        as: this.#parts.user,
      })
      return true
    } catch (error) {
      if (error instanceof ApiError && error.code === 404) return false
      throw error
    }
  }

  #serve(definition: Stored): void {
    const name = nameOf(definition)
    if (definition['metadata'].deletionTimestamp !== undefined) this.#terminating.add(name)
    const before = this.#served.get(name)
    if (!isTrue(definition, 'Established')) return
    const previous = before?.[0]?.definition as { readonly object: Stored } | undefined
    if (previous !== undefined && servesTheSame(previous.object, definition)) return
    const resources = servedResources(
      definition,
      () => this.#terminating.has(name),
      this.#parts.conversion,
    )
    const { registry } = this.#parts
    for (const { info } of before ?? []) {
      if (!resources.some((resource) => resource.info.version === info.version)) {
        registry.remove(info.group, info.version, info.resource)
      }
    }
    for (const resource of resources) registry.add(resource)
    this.#served.set(name, resources)
  }

  #withdraw(name: string): void {
    for (const { info } of this.#served.get(name) ?? [])
      this.#parts.registry.remove(info.group, info.version, info.resource)
    this.#served.delete(name)
    this.#terminating.delete(name)
    this.#instanceWatches.get(name)?.stop()
    this.#instanceWatches.delete(name)
  }

  /** Deletes the instances, and lets the definition go when none is left. */
  async #terminate(definition: Stored): Promise<void> {
    const name = nameOf(definition)
    const finalizers: readonly string[] = definition['metadata'].finalizers ?? []
    if (!finalizers.includes(CLEANUP_FINALIZER)) return
    const isEstablished = isTrue(definition, 'Established')
    if (isEstablished && isTrue(definition, 'Terminating')) {
      const reason: unknown = findCondition(definition, 'Terminating')?.['reason']
      if (reason === TERMINATION_PENDING.reason)
        await this.#setConditions(name, [TERMINATION_IN_PROGRESS])
      const problem = await this.#deleteInstances(definition)
      if (problem !== undefined) {
        await this.#setConditions(name, [terminationFailed(problem)])
        this.#retryLater(name)
        return
      }
      if (reason !== TERMINATION_IN_PROGRESS.reason)
        await this.#setConditions(name, [TERMINATION_IN_PROGRESS])
    }
    if (isEstablished && this.#instances(definition).length > 0)
      return this.#awaitInstances(definition)
    this.#instanceWatches.get(name)?.stop()
    this.#instanceWatches.delete(name)
    const nowMs = this.#parts.clock.nowMs()
    const complete = (draft: Draft): void => {
      const condition = isEstablished ? TERMINATION_COMPLETED : NEVER_ESTABLISHED
      setCondition((draft['status'] ??= {}) as Draft, condition, nowMs)
      removeCleanupFinalizer(draft)
    }
    await this.#update(name, complete, { subresource: 'status', manager: MANAGER })
  }

  #instances(definition: Stored): readonly Stored[] {
    const snapshot = this.#parts.server.store.list(instanceCollection(definition), '')
    return snapshot === 'expired' ? [] : snapshot.entries.map(({ object }) => object)
  }

  /** A webhook that is away now may come back without anything being written. */
  #retryLater(name: string): void {
    this.#retries.get(name)?.cancel()
    const retry = (): void => {
      this.#retries.delete(name)
      this.#enqueue(name)
    }
    this.#retries.set(name, this.#parts.clock.after(RETRY_MS, retry))
  }

  /** Answers why there are some that cannot be deleted. */
  async #deleteInstances(definition: Stored): Promise<string | undefined> {
    const { server, user } = this.#parts
    const { group } = definition['spec']
    const plural: string = definition['spec'].names.plural
    if (server.resource(group, plural) === undefined) return undefined
    for (const instance of this.#instances(definition)) {
      const { namespace = '', name, deletionTimestamp } = instance['metadata']
      if (deletionTimestamp !== undefined) continue
      try {
        await server.delete(
          group,
          plural,
          namespace,
          name,
          { propagationPolicy: 'Background' },
          user,
          // Policies and webhooks may be those of an operator that has gone before its definitions.
          'unasked',
        )
      } catch (error) {
        if (!(error instanceof ApiError)) throw error
        if (error.code !== 404) return error.message
      }
    }
    return undefined
  }

  #awaitInstances(definition: Stored): void {
    const name = nameOf(definition)
    if (this.#instanceWatches.has(name)) return
    const { store } = this.#parts.server
    const watch = store.watch(instanceCollection(definition), '', store.revision, ({ type }) => {
      if (type === 'deleted') this.#enqueue(name)
    })
    if (watch !== 'expired') this.#instanceWatches.set(name, watch)
  }

  /** Documents are made again when something else is served than when they were made. */
  #publish(group: string): void {
    const { registry, publish } = this.#parts
    if (publish === undefined) return
    const versions = new Map<string, ServedResource[]>()
    const prefix = `apis/${group}/`
    for (const path of this.#published.keys())
      if (path.startsWith(prefix)) versions.set(path.slice(prefix.length), [])
    for (const resource of registry.all()) {
      const { custom, definition, info } = resource
      if (!custom || info.group !== group) continue
      // Definitions that are going are not published any more.
      if (this.#terminating.has(nameOf((definition as CustomDefinition).object))) continue
      versions.set(info.version, [...(versions.get(info.version) ?? []), resource])
    }
    for (const [version, resources] of versions) {
      const path = prefix + version
      const before = this.#published.get(path) ?? []
      if (
        before.length === resources.length &&
        before.every((resource, index) => resource === resources[index])
      )
        continue
      publish(path, openApiDocument(resources))
      if (resources.length === 0) this.#published.delete(path)
      else this.#published.set(path, resources)
    }
  }

  #get(name: string): Stored | undefined {
    return this.#parts.server.get(GROUP, RESOURCE, '', name)
  }

  #all(): readonly Stored[] {
    return this.#parts.server.list(GROUP, RESOURCE)
  }
}

function nameOf(definition: Stored): string {
  return definition['metadata'].name
}

function instanceCollection(definition: Stored): string {
  return `${definition['spec'].names.plural}.${definition['spec'].group}`
}

function removeCleanupFinalizer(draft: Draft): void {
  const rest = (draft['metadata'].finalizers ?? []).filter(
    (name: string) => name !== CLEANUP_FINALIZER,
  )
  if (rest.length === 0) delete draft['metadata'].finalizers
  else draft['metadata'].finalizers = rest
}

function sameCondition(found: Stored | undefined, condition: Condition): boolean {
  return (
    found !== undefined &&
    found['status'] === condition.status &&
    found['reason'] === condition.reason &&
    found['message'] === condition.message
  )
}

/** Whether two states of a definition are served alike: conditions and metadata do not matter. */
function servesTheSame(a: Stored, b: Stored): boolean {
  return (
    deepEqual(a['spec'], b['spec']) &&
    deepEqual(a['status']?.acceptedNames, b['status']?.acceptedNames) &&
    a['metadata'].uid === b['metadata'].uid
  )
}

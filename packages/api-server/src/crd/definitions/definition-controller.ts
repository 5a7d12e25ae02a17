/**
 * Follows the definitions in the store: gives out names and serves what is established. What is deleted is cleared up elsewhere, so
 * that it keeps nobody waiting. Contract: docs/behaviour/api-server/custom-resources.md.
 */
import { deepEqual } from '@gyropilot/api'
import type { Clock, LogFields, Logger } from '@gyropilot/foundation'
import type { ServerInternals, UserInfo } from '../../contracts.ts'
import { cloneJson } from '../../registry/equality.ts'
import type { Stored } from '../../registry/kind-rules.ts'
import type { ResourceRegistry, ServedResource } from '../../registry/resource-registry.ts'
import type { StoreEvent, StoreWatch } from '../../storage/store.ts'
import { ESTABLISHED, UNREACHABLE, findCondition, isTrue } from './conditions.ts'
import type { Condition } from './conditions.ts'
import { DefinedApiServices } from './api-services.ts'
import { authoritiesProblemOf } from '../conversion-validation.ts'
import type { ConversionParts } from '../conversion-webhook.ts'
import { servedResources, storedResource } from '../custom-resource.ts'
import { KeyedQueue } from './keyed-queue.ts'
import { judgeApproval, judgeNames } from './naming.ts'
import { PublishedDocuments } from './published-documents.ts'
import { StoredDefinitions } from './stored-definitions.ts'
import { Terminations } from './terminations.ts'

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
  /** In the background, and without asking admission. */
  deleteInstance(resource: ServedResource, namespace: string, name: string): Promise<void>
}

export class DefinitionController {
  readonly #parts: DefinitionControllerParts
  readonly #definitions: StoredDefinitions
  readonly #apiServices: DefinedApiServices
  readonly #documents: PublishedDocuments | undefined
  readonly #terminations: Terminations
  /** By group: who may have a name depends on the others. */
  readonly #naming: KeyedQueue
  /** Those of each group that have not been looked at since their last event. */
  readonly #unnamed = new Map<string, Set<string>>()
  /** What is served of each definition. */
  readonly #served = new Map<string, readonly ServedResource[]>()
  /** Definitions on their way out. They are served to the end, so that watches see their instances go. */
  readonly #terminating = new Set<string>()
  #watch: StoreWatch | undefined

  constructor(parts: DefinitionControllerParts) {
    const { registry, clock, publish } = parts
    this.#parts = parts
    this.#definitions = new StoredDefinitions(parts)
    this.#apiServices = new DefinedApiServices(parts)
    if (publish !== undefined) this.#documents = new PublishedDocuments({ registry, publish })
    this.#terminations = new Terminations({
      ...parts,
      definitions: this.#definitions,
      storedResource: (definition) => this.#storedResource(definition),
    })
    this.#naming = new KeyedQueue({
      clock,
      work: (group) => this.#name(group),
      onFailure: (group, error) => this.#failed(error, { group }),
    })
  }

  /** Serves what is stored and follows what comes. */
  async start(): Promise<void> {
    const { store } = this.#parts.server
    const { revision } = store
    for (const definition of this.#definitions.all()) {
      this.#serve(definition)
      this.#enqueue(nameOf(definition))
    }
    const watch = store.watch(StoredDefinitions.collection, '', revision, (event) =>
      this.#observe(event),
    )
    if (watch !== 'expired') this.#watch = watch
    this.#apiServices.start()
    await this.idle()
  }

  stop(): void {
    this.#watch?.stop()
    this.#naming.stop()
    this.#apiServices.stop()
    this.#terminations.stop()
  }

  /** Resolves when every definition has been looked at since its last event: it is served then, or its conditions say why not. */
  idle(): Promise<void> {
    return this.#naming.idle()
  }

  #observe({ type, object }: StoreEvent): void {
    const name = nameOf(object)
    // Routes follow the store at once; names and conditions are written afterwards.
    if (type === 'deleted') this.#withdraw(name)
    else this.#serve(object)
    this.#enqueue(name)
  }

  #enqueue(name: string): void {
    const group = StoredDefinitions.groupOf(name)
    const unnamed = this.#unnamed.get(group) ?? new Set()
    this.#unnamed.set(group, unnamed.add(name))
    this.#naming.add(group)
  }

  async #name(group: string): Promise<void> {
    const unnamed = this.#unnamed.get(group) ?? new Set()
    const failed: string[] = []
    for (const name of unnamed) {
      unnamed.delete(name)
      try {
        await this.#sync(name, group)
      } catch (error) {
        this.#failed(error, { name })
        failed.push(name)
      }
    }
    for (const name of failed) unnamed.add(name)
    if (unnamed.size === 0) this.#unnamed.delete(group)
    else this.#naming.addLater(group)
  }

  #failed(error: unknown, fields: LogFields): void {
    const text = 'definition of a custom resource could not be synced'
    this.#parts.logger.error(error, text, fields)
  }

  async #sync(name: string, group: string): Promise<void> {
    const definition = this.#definitions.get(name)
    if (definition === undefined) this.#reconsider(group, name)
    else if (definition['metadata'].deletionTimestamp !== undefined) this.#terminations.add(name)
    else {
      await this.#giveNames(definition)
      await this.#establish(name)
    }
    this.#documents?.align(group)
    // Who waits for a definition does not wait for what is asked about its APIService.
    this.#apiServices.align(group)
  }

  async #establish(name: string): Promise<void> {
    const named = this.#definitions.get(name)
    if (named === undefined || !isTrue(named, 'NamesAccepted') || isTrue(named, 'Established'))
      return
    const isReachable = authoritiesProblemOf(named['spec'].conversion) === undefined
    await this.#definitions.setConditions(named, [isReachable ? ESTABLISHED : UNREACHABLE])
  }

  /** A name that was given back may be what another definition of the group waits for. */
  #reconsider(group: string, except: string): void {
    for (const definition of this.#definitions.all()) {
      if (definition['spec'].group !== group || nameOf(definition) === except) continue
      if (!isTrue(definition, 'NamesAccepted')) this.#enqueue(nameOf(definition))
    }
  }

  async #giveNames(definition: Stored): Promise<void> {
    const name = nameOf(definition)
    const { group } = definition['spec']
    const others = this.#definitions
      .all()
      .filter((other) => other['spec'].group === group && nameOf(other) !== name)
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
    await this.#definitions.setConditions(definition, conditions, (_, status) => {
      status['acceptedNames'] = cloneJson(acceptedNames)
    })
    if (!deepEqual(before['acceptedNames'], acceptedNames)) this.#reconsider(group, name)
  }

  #serve(definition: Stored): void {
    const { registry, conversion } = this.#parts
    const name = nameOf(definition)
    const before = this.#served.get(name)
    if (definition['metadata'].deletionTimestamp !== undefined && !this.#terminating.has(name)) {
      this.#terminating.add(name)
      if (before !== undefined) registry.retold()
    }
    if (!isTrue(definition, 'Established')) return
    const previous = before?.[0]?.definition as { readonly object: Stored } | undefined
    if (previous !== undefined && servesTheSame(previous.object, definition)) return
    const isTerminating = (): boolean => this.#terminating.has(name)
    const resources = this.#isOfBuiltInGroup(definition)
      ? []
      : servedResources(definition, isTerminating, conversion)
    for (const old of before ?? []) {
      if (!resources.some(({ info }) => info.version === old.info.version)) registry.remove(old)
    }
    for (const resource of resources) registry.add(resource)
    this.#served.set(name, resources)
  }

  #withdraw(name: string): void {
    for (const resource of this.#served.get(name) ?? []) this.#parts.registry.remove(resource)
    this.#served.delete(name)
    this.#terminating.delete(name)
    this.#terminations.forget(name)
  }

  #storedResource(definition: Stored): ServedResource | undefined {
    if (this.#isOfBuiltInGroup(definition)) return undefined
    return storedResource(definition, () => true, this.#parts.conversion)
  }

  /** Every path of such a group is the API's own: a definition is taken, and nothing of it ever served. */
  #isOfBuiltInGroup({ spec }: Stored): boolean {
    return this.#parts.registry.isBuiltInGroup(spec.group)
  }
}

function nameOf(definition: Stored): string {
  return definition['metadata'].name
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

/**
 * The aggregator's record of each group version that definitions serve: made with the first, removed with the last, and put right when
 * somebody else changes it. Contract: docs/behaviour/api-server/custom-resources.md.
 */
import { deepEqual } from '@gyropilot/api'
import { formatTime } from '@gyropilot/foundation'
import type { Clock, Logger } from '@gyropilot/foundation'
import type { ServerInternals, UserInfo } from '../../contracts.ts'
import { AUTOMANAGED_LABEL, locallyAvailable } from '../../kinds/apiregistration/api-service.ts'
import type { Draft, Stored } from '../../registry/kind-rules.ts'
import type { ResourceRegistry } from '../../registry/resource-registry.ts'
import type { StoreEvent, StoreWatch } from '../../storage/store.ts'
import { KeyedQueue } from './keyed-queue.ts'

const GROUP = 'apiregistration.k8s.io'
const RESOURCE = 'apiservices'

interface DefinedApiServicesParts {
  readonly registry: ResourceRegistry
  readonly server: ServerInternals
  readonly clock: Clock
  readonly logger: Logger
  /** The server's own identity. */
  readonly user: UserInfo
}

export class DefinedApiServices {
  readonly #parts: DefinedApiServicesParts
  #watch: StoreWatch | undefined
  /** By group. */
  readonly #queue: KeyedQueue

  constructor(parts: DefinedApiServicesParts) {
    this.#parts = parts
    this.#queue = new KeyedQueue({
      clock: parts.clock,
      work: (group) => this.#align(group),
      onFailure: (group, error) =>
        parts.logger.error(error, 'APIServices of a group could not be aligned', { group }),
    })
  }

  start(): void {
    const { server } = this.#parts
    if (server.resource(GROUP, RESOURCE) === undefined) return
    const { store } = server
    const watch = store.watch(`${RESOURCE}.${GROUP}`, '', store.revision, (event) =>
      this.#observe(event),
    )
    if (watch !== 'expired') this.#watch = watch
  }

  stop(): void {
    this.#watch?.stop()
    this.#queue.stop()
  }

  /** Those of a group will be as they should. */
  align(group: string): void {
    this.#queue.add(group)
  }

  #observe({ type, object }: StoreEvent): void {
    const { group = '', version = '' } = object['spec']
    const isServed = this.#versionsOf(group).has(version)
    const isGone = type === 'deleted'
    const isDue = isGone
      ? isServed
      : isManaged(object) && !(isServed && deepEqual(object['spec'], specOf(group, version)))
    if (isDue) this.align(group)
  }

  async #align(group: string): Promise<void> {
    const { server, user } = this.#parts
    if (server.resource(GROUP, RESOURCE) === undefined) return
    const served = this.#versionsOf(group)
    for (const version of served) {
      const name = `${version}.${group}`
      const found = server.get(GROUP, RESOURCE, '', name)
      if (found === undefined) await this.#create(name, group, version)
      else if (isManaged(found) && !deepEqual(found['spec'], specOf(group, version)))
        await server.update(
          GROUP,
          RESOURCE,
          '',
          name,
          (draft) => void (draft['spec'] = specOf(group, version)),
          { as: user },
        )
    }
    for (const object of server.list(GROUP, RESOURCE)) {
      const { metadata, spec } = object
      if (spec?.group !== group || served.has(spec.version) || !isManaged(object)) continue
      await server.delete(GROUP, RESOURCE, '', metadata.name, {}, user)
    }
  }

  async #create(name: string, group: string, version: string): Promise<void> {
    const { server, user, clock } = this.#parts
    const object: Draft = {
      apiVersion: `${GROUP}/v1`,
      kind: 'APIService',
      metadata: { name, labels: { [AUTOMANAGED_LABEL]: 'true' } },
      spec: specOf(group, version),
    }
    await server.create(GROUP, RESOURCE, object, user)
    const status = locallyAvailable(formatTime(clock.nowMs()))
    const change = (draft: Draft): void => void (draft['status'] = status)
    const options = { subresource: 'status', as: user, manager: '' }
    await server.update(GROUP, RESOURCE, '', name, change, options)
  }

  #versionsOf(group: string): ReadonlySet<string> {
    const served = new Set<string>()
    for (const { info, custom } of this.#parts.registry.all())
      if (custom && info.group === group) served.add(info.version)
    return served
  }
}

function specOf(group: string, version: string): Draft {
  return { group, version, groupPriorityMinimum: 1000, versionPriority: 100 }
}

/** Without the label, or with another value, an APIService is its maker's. */
function isManaged({ metadata }: Stored): boolean {
  return metadata.labels?.[AUTOMANAGED_LABEL] === 'true'
}

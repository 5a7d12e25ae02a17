import type { Clock } from '@gyropilot/foundation'
import { ApiError } from '../../contracts.ts'
import type { ServerInternals, UserInfo } from '../../contracts.ts'
import type { Draft, Stored } from '../../registry/kind-rules.ts'
import { setCondition } from './conditions.ts'
import type { Condition } from './conditions.ts'

const GROUP = 'apiextensions.k8s.io'
const RESOURCE = 'customresourcedefinitions'
const MANAGER = 'kube-apiserver'

interface StoredDefinitionsParts {
  readonly server: ServerInternals
  readonly clock: Clock
  /** The server's own identity. */
  readonly user: UserInfo
}

/** Definitions as the server itself reads them and writes their status. */
export class StoredDefinitions {
  static readonly collection = `${RESOURCE}.${GROUP}`
  readonly #parts: StoredDefinitionsParts

  constructor(parts: StoredDefinitionsParts) {
    this.#parts = parts
  }

  get(name: string): Stored | undefined {
    return this.#parts.server.get(GROUP, RESOURCE, '', name)
  }

  all(): readonly Stored[] {
    return this.#parts.server.list(GROUP, RESOURCE)
  }

  /** Nothing happens to one that is gone, nor to another one of its name. */
  async setConditions(
    { metadata }: Stored,
    conditions: readonly Condition[],
    /** What changes with them. */
    also?: (draft: Draft, status: Draft) => void,
  ): Promise<void> {
    const nowMs = this.#parts.clock.nowMs()
    const change = (draft: Draft): void => {
      if (draft['metadata'].uid !== metadata.uid) return
      const status = (draft['status'] ??= {}) as Draft
      also?.(draft, status)
      for (const condition of conditions) setCondition(status, condition, nowMs)
    }
    const options = { subresource: 'status', manager: MANAGER, as: this.#parts.user }
    try {
      await this.#parts.server.update(GROUP, RESOURCE, '', metadata.name, change, options)
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 404) throw error
    }
  }

  /** Of what was deleted only the name is known. */
  static groupOf(name: string): string {
    return name.slice(name.indexOf('.') + 1)
  }
}

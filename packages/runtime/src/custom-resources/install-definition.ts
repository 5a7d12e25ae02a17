import type { CustomResourceDefinition } from '@gyropilot/api'
import { isConditionTrue, resources } from '@gyropilot/api'
import type { Client } from '@gyropilot/client'
import { poll } from '@gyropilot/client'
import type { Clock, RandomSource } from '@gyropilot/foundation'
import { applyObject } from '../object-writes/apply.ts'

/** An abort of `signal` gives the wait up. */
export interface InstallOptions {
  readonly clock: Clock
  readonly random: RandomSource
  readonly signal: AbortSignal
  /** Default 10 s. */
  readonly timeoutMs?: number
  /** Default `gyropilot`. */
  readonly fieldOwner?: string
}

/**
 * Applies a definition and resolves when the server serves its kind: informers that start earlier meet 404 and wait.
 * Rejects with WaitTimeoutError.
 */
export async function installDefinition(
  client: Client,
  definition: CustomResourceDefinition,
  { timeoutMs = 10_000, fieldOwner = 'gyropilot', ...context }: InstallOptions,
): Promise<void> {
  const type = resources.customresourcedefinitions
  const name = definition.metadata?.name ?? ''
  await applyObject(client, type, definition as never, { fieldOwner, force: true })
  await poll(context, { intervalMs: 100, timeoutMs, immediate: true }, async () => {
    const { status } = await client.resource(type).get(name, { signal: context.signal })
    return isConditionTrue(status?.conditions, 'Established')
  })
}

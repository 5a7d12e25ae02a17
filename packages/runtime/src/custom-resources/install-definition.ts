/** Contract: docs/behaviour/runtime/custom-controllers.md, Custom resource definitions. */
import type { CustomResourceDefinition } from '@gyropilot/api'
import { isConditionTrue, resources } from '@gyropilot/api'
import type { Client } from '@gyropilot/client'
import {
  StatusError,
  TransportError,
  WaitTimeoutError,
  ignoreNotFound,
  isTooManyRequests,
  poll,
} from '@gyropilot/client'
import { anySignal, errorText, untilAborted, withDeadline } from '@gyropilot/foundation'
import type { Clock, RandomSource } from '@gyropilot/foundation'
import { applyObject } from '../object-writes/apply.ts'

/** An abort of `signal` gives all of it up. */
export interface InstallOptions {
  readonly clock: Clock
  readonly random: RandomSource
  readonly signal: AbortSignal
  /** Of all of it, the answer to the apply too. Default 10 s; 0: none. */
  readonly timeoutMs?: number
  /** Default `gyropilot`. */
  readonly fieldOwner?: string
}

/**
 * Applies a definition and resolves when the server serves its kind in every version that is to be served: informers that start
 * earlier meet 404 and wait. Rejects with WaitTimeoutError, whose message says what was still missing; with what the server says
 * against the definition; and with what it says against reading it, but for failures that pass.
 */
export async function installDefinition(
  client: Client,
  definition: CustomResourceDefinition,
  { timeoutMs = 10_000, fieldOwner = 'gyropilot', ...context }: InstallOptions,
): Promise<void> {
  const type = resources.customresourcedefinitions
  using scope =
    timeoutMs > 0
      ? withDeadline(context.clock, timeoutMs, context.signal)
      : anySignal([context.signal])
  const { signal } = scope
  let missing: string | undefined = 'the definition is not accepted yet'
  try {
    const options = { fieldOwner, force: true, signal }
    await untilAborted(applyObject(client, type, definition as never, options), signal)
    const asking = { intervalMs: 100, timeoutMs: 0, immediate: true }
    await poll({ ...context, signal }, asking, async () => {
      try {
        missing = await untilAborted(missingOf(client, definition, signal), signal)
      } catch (error) {
        if (!isPassing(error)) throw error
        missing = errorText(error)
      }
      return missing === undefined
    })
  } catch (error) {
    if (!signal.aborted || context.signal.aborted) throw error
    throw new WaitTimeoutError({ cause: error }, missing)
  }
}

/**
 * What stands between the definition and its kind; undefined: nothing. Of a definition that was there before, Established says
 * nothing about a version that has just been added: discovery does.
 */
async function missingOf(
  client: Client,
  { metadata, spec }: CustomResourceDefinition,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { name = '' } = metadata ?? {}
  const { status } = await client
    .resource(resources.customresourcedefinitions)
    .get(name, { signal })
  const conditions = status?.conditions ?? []
  // No reason to give up: it may be of the names that the definition had before, and another definition may free them.
  const refused = conditions.find((each) => each.type === 'NamesAccepted')
  if (refused?.status === 'False')
    return `the names of ${name} are not accepted: ${refused.message ?? refused.reason ?? ''}`
  if (!isConditionTrue(conditions, 'Established')) return `${name} is not established yet`
  for (const { name: version, served } of spec.versions) {
    if (!served) continue
    const path = `/apis/${spec.group}/${version}`
    const found = await client
      .raw<ServedResources>({ method: 'GET', path, signal })
      .catch(ignoreNotFound)
    if (!found?.resources?.some(({ name: resource }) => resource === spec.names.plural))
      return `${spec.names.plural} of ${spec.group}/${version} are not served yet`
  }
  return undefined
}

/** Of an APIResourceList. */
interface ServedResources {
  readonly resources?: readonly { readonly name: string }[] | null
}

/** A server that cannot answer for a moment, or a connection that broke. */
function isPassing(error: unknown): boolean {
  if (error instanceof StatusError) return error.code >= 500 || isTooManyRequests(error)
  return error instanceof TransportError
}

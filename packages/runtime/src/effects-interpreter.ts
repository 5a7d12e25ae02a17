import type { DiscoveredResource, KubernetesObject } from '@gyropilot/api'
import { discover } from '@gyropilot/client'
import { sleep } from '@gyropilot/foundation'
import type { Client, Discovered, RestMapper } from '@gyropilot/client'
import type { Clock } from '@gyropilot/foundation'
import type {
  Effect,
  EventRecord,
  Expected,
  Outcome,
  OutsideCall,
  Read,
  Reconcile,
  Write,
} from './effects.ts'
import type { Expectations } from './expectations.ts'
import type { SharedReads } from './shared-reads.ts'
import { inSlowStart } from './slow-start.ts'
import type { StepAside } from './stepping-aside.ts'
import { yieldIfLong } from './turn.ts'

/** Servers answer the deletion of a collection with all that was in it, which rules do not read: see ListOptions.mentioning. */
const NO_OBJECT = '00000000-0000-0000-0000-000000000000'

/** Rules see objects as caches have them: without managedFields. */
const LEAN = { decode: 'lean' } as const
const METADATA = { decode: 'metadata' } as const

/** What effects act on. */
export interface World {
  readonly client: Client
  readonly clock: Clock
  /** Records an event in the background. */
  readonly recordEvent: (event: EventRecord) => void
  /** Once it aborts no further write is started: rules that ask for one are ended there. */
  readonly signal: AbortSignal
  /** Needed by rules whose batches carry expectations. */
  readonly expectations?: Expectations
  /** Absent: each read is a request of its own. */
  readonly sharedReads?: SharedReads
  /** Needed by rules that ask which resource serves a kind. */
  readonly mapper?: RestMapper
  /** Needed by rules that call outside. The signal aborts when the process stops. */
  readonly outside?: PerformOutside
  /** Lets the worker go until the answer has come and the keys that were ready then have begun. Absent: the worker waits for the answer. */
  readonly stepAside?: StepAside
  /** Told of each write that succeeded, before the rules go on. */
  readonly onWritten?: (write: Write, object: KubernetesObject) => void
  /** Told of each write that did not, before the rules go on. */
  readonly onRefused?: (write: Write, error: unknown) => void
  /** Told of each effect and what came of it. */
  readonly onEffect?: (effect: Effect, outcome: unknown) => void
}

/** Performs a call outside: its answer is the outcome's object, and what it rejects with its error. */
export type PerformOutside = (call: OutsideCall, signal: AbortSignal) => Promise<unknown>

/** Rules were ended because the process is stopping. Nothing is wrong with their key. */
export class InterruptedByShutdown extends Error {
  constructor() {
    super('interrupted by shutdown')
    this.name = 'InterruptedByShutdown'
  }
}

/** Clocks that are read, and effects that are told one by one. */
const UNTOLD: ReadonlySet<Effect['effect']> = new Set(['now', 'elapsed', 'turn', 'beside'])

/**
 * Runs rules to their end against a real world. Rejects with what the rules throw, which is a defect of theirs, or with
 * InterruptedByShutdown. A write that was started is always waited for.
 */
export async function interpret<R>(rules: Reconcile<R>, world: World): Promise<R> {
  let step = rules.next()
  while (!step.done) {
    const effect = step.value
    let outcome: unknown
    try {
      outcome = await perform(effect, world)
    } catch (error) {
      rules.return(undefined as R)
      throw error
    }
    const isTold = !UNTOLD.has(effect.effect)
    if (isTold && world.onEffect !== undefined) world.onEffect(effect, outcome)
    step = rules.next(outcome)
  }
  return step.value
}

/** Performs one effect. For loops that are not written as rules but want writes to behave as everywhere. */
export async function perform(effect: Effect, world: World): Promise<unknown> {
  switch (effect.effect) {
    case 'now':
      return world.clock.nowMs()
    case 'elapsed':
      return world.clock.monotonicMs()
    case 'event':
      world.recordEvent(effect.event)
      return undefined
    case 'wait':
      return pause(effect.waitMs, world)
    case 'turn':
      return yieldIfLong(world.clock)
    case 'beside':
      return performBeside(effect, world)
    default:
      if (world.signal.aborted) throw new InterruptedByShutdown()
      return performRequest(effect, world)
  }
}

type LocalEffect = 'now' | 'event' | 'wait' | 'turn' | 'beside'

async function performRequest(
  effect: Exclude<Effect, { effect: LocalEffect }>,
  world: World,
): Promise<unknown> {
  const { client, signal } = world
  switch (effect.effect) {
    case 'read':
      return outcomeOf(performRead(effect.read, world))
    case 'kind':
      return outcomeOf(mapped(effect, world))
    case 'fetch':
      return outcomeOf(
        client.raw({ method: 'GET', path: effect.path, about: effect.about, signal }),
      )
    case 'outside':
      return outcomeOf(performOutside(effect.call, world))
    case 'write':
      return effect.aside === true
        ? performAside(effect.write, world)
        : performWrite(effect.write, world)
    case 'writes':
      return performWrites(effect, world)
  }
}

async function pause(waitMs: number, { clock, signal }: World): Promise<void> {
  try {
    await sleep(clock, waitMs, signal)
  } catch {
    throw new InterruptedByShutdown()
  }
}

async function performBeside(
  { rules, atOnce }: Extract<Effect, { effect: 'beside' }>,
  world: World,
): Promise<readonly unknown[]> {
  const results: unknown[] = []
  const waiting = rules.entries()
  let hasThrown = false
  const worker = async (): Promise<void> => {
    for (const [index, rule] of waiting) {
      if (hasThrown) return
      try {
        results[index] = await interpret(rule, world)
      } catch (error) {
        hasThrown = true
        throw error
      }
    }
  }
  const workers = Array.from({ length: Math.min(atOnce, rules.length) }, worker)
  for (const ended of await Promise.allSettled(workers))
    if (ended.status === 'rejected') throw ended.reason
  return results
}

async function performWrites(
  effect: Extract<Effect, { effect: 'writes' }>,
  world: World,
): Promise<readonly Outcome[]> {
  const { writes, order, expectations: expected } = effect
  expectAll(expected, writes.length, world)
  const start = (write: Write): Promise<Outcome> => performWrite(write, world)
  const outcomes =
    order === 'parallel'
      ? await Promise.all(writes.map(start))
      : await inSlowStart(writes, start, {
          ends: (outcome) => !outcome.ok,
          skip: (ended): Outcome => ({ ok: false, error: errorOf(ended), attempted: false }),
          signal: world.signal,
        })
  outcomes.forEach((outcome, index) => {
    if (outcome.ok || (outcome.attempted && keeps(expected, outcome.error))) return
    lowerExpectation(expected, index, world)
  })
  return outcomes
}

function errorOf(ended: Outcome | undefined): unknown {
  return ended === undefined || ended.ok ? new InterruptedByShutdown() : ended.error
}

function keeps(expected: Expected | undefined, error: unknown): boolean {
  return expected?.kind === 'creations' && expected.keepOnError?.(error) === true
}

function expectAll(expected: Expected | undefined, count: number, world: World): void {
  if (expected === undefined) return
  const expectations = expectationsOf(world)
  if (expected.kind === 'creations') expectations.expectCreations(expected.key, count)
  else expectations.expectDeletions(expected.key, expected.dependents)
}

function lowerExpectation(expected: Expected | undefined, index: number, world: World): void {
  if (expected === undefined) return
  const expectations = expectationsOf(world)
  if (expected.kind === 'creations') expectations.creationObserved(expected.key)
  else expectations.deletionObserved(expected.key, expected.dependents[index] ?? '')
}

function expectationsOf(world: World): Expectations {
  if (world.expectations === undefined)
    throw new Error('rules carry expectations but the controller has none')
  return world.expectations
}

async function performAside(write: Write, world: World): Promise<Outcome> {
  const answer = performWrite(write, world)
  await world.stepAside?.(answer)
  return answer
}

async function performWrite(write: Write, world: World): Promise<Outcome> {
  const outcome = await outcomeOf(sendWrite(write, world.client))
  if (outcome.ok) world.onWritten?.(write, outcome.object)
  else world.onRefused?.(write, outcome.error)
  return outcome
}

async function outcomeOf<T>(answer: Promise<T>): Promise<Outcome<T>> {
  try {
    return { ok: true, object: await answer }
  } catch (error) {
    return { ok: false, error, attempted: true }
  }
}

/** Async, so that what a client throws while it builds the request is an outcome too. */
async function sendWrite(write: Write, client: Client): Promise<KubernetesObject> {
  const resource = client.resource(write.type, write.namespace)
  switch (write.verb) {
    case 'create':
      return write.subresource === undefined
        ? resource.create(write.object, {
            ...(write.metadataOnly === true ? METADATA : LEAN),
            ...(write.due === true ? { due: true } : {}),
            ...(write.repeated === true ? { repeated: true } : {}),
          })
        : resource.createSubresource(
            write.name ?? write.object.metadata?.name ?? '',
            write.subresource,
            write.object,
          )
    case 'update':
      return resource.update(write.object, { ...LEAN, ...subresourceOption(write.subresource) })
    case 'patch':
      return resource.patch(write.name, write.patch, {
        ...LEAN,
        ...subresourceOption(write.subresource),
      })
    case 'apply':
      return resource.apply(write.name, write.object, {
        fieldManager: write.fieldManager,
        force: write.force,
        ...LEAN,
        ...subresourceOption(write.subresource),
      })
    case 'delete':
      return resource.delete(write.name, { ...write.options, ...METADATA })
    case 'deleteCollection':
      return resource.deleteCollection({
        ...write.options,
        ...(write.limit === undefined ? {} : { limit: write.limit, continue: write.continue }),
        metadataOnly: true,
        mentioning: [NO_OBJECT],
      })
  }
}

function subresourceOption(subresource: string | undefined): { subresource: string } | undefined {
  return subresource === undefined ? undefined : { subresource }
}

async function performRead(read: Read, world: World): Promise<KubernetesObject> {
  if (read.verb === 'discover') {
    return (await discovered(read.remembered === true, world)) as unknown as KubernetesObject
  }
  if (read.shared !== true || world.sharedReads === undefined) {
    const mentioning = read.verb === 'list' ? read.mentioning : undefined
    return sendRead(read, mentioning === undefined ? [] : [mentioning], world)
  }
  return world.sharedReads.read(read, (mentioning) => sendRead(read, mentioning, world))
}

/** `mentioning`: empty when all of a list is of interest. */
async function sendRead(
  read: Exclude<Read, { verb: 'discover' }>,
  mentioning: readonly string[],
  world: World,
): Promise<KubernetesObject> {
  const resource = world.client.resource(read.type, read.namespace)
  const options = { signal: world.signal, ...(read.metadataOnly ? { metadataOnly: true } : {}) }
  if (read.verb === 'get')
    return resource.get(read.name, { ...options, ...LEAN, ...subresourceOption(read.subresource) })
  const items: KubernetesObject[] = []
  let metadata: object = {}
  const { labelSelector, fieldSelector, limit } = read
  const selected = {
    ...options,
    labelSelector,
    fieldSelector,
    ...(mentioning.length === 0 ? {} : { mentioning }),
  }
  if (limit !== undefined)
    return (await resource.list({ ...selected, limit, continue: read.continue })) as object
  for await (const page of resource.pages(selected)) {
    // Not as arguments: servers that know no pages answer with more items than a call can have.
    for (const item of page.items) items.push(item)
    metadata = page.metadata
  }
  return { metadata, items } as KubernetesObject
}

async function performOutside(call: OutsideCall, { outside, signal }: World): Promise<unknown> {
  if (outside === undefined) throw new Error('rules call outside but the controller has no way out')
  return await outside(call, signal)
}

function discovered(remembered: boolean, { mapper, client, signal }: World): Promise<Discovered> {
  if (mapper === undefined) {
    if (remembered) throw new Error('rules ask for resources but the controller has no mapper')
    return discover(client, signal)
  }
  if (!remembered) mapper.reset()
  return mapper.discovered()
}

async function mapped(
  { group, kind, version }: Extract<Effect, { effect: 'kind' }>,
  { mapper }: World,
): Promise<DiscoveredResource> {
  if (mapper === undefined) throw new Error('rules ask for kinds but the controller has no mapper')
  const type = await mapper.requireKind(group, kind, version)
  return (await mapper.forResource(type.group, type.resource, type.version))!
}

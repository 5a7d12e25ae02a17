/** How long nobody leads after a leader was killed: docs/decisions/0010-fail-over-bound.md. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Lease, WatchEvent } from '@gyropilot/api'
import type { Client, ResourceClient } from '@gyropilot/client'
import { SeededRandom, jitter, sleep } from '@gyropilot/foundation'
import type { RandomSource } from '@gyropilot/foundation'
import { statusError } from '../testing/index.ts'
import { world } from './fixtures.ts'

const SEEDS = 300
const UPSTREAM = { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 2_000 }
const SHORT = { leaseDurationMs: 5_000, renewDeadlineMs: 3_000, retryPeriodMs: 500 }

type World = ReturnType<typeof world>

/** A client behind a network: what is sent arrives later, and so does the answer; after `cut` nothing does. */
function line({ server, clock }: World, random: RandomSource, mostDelayMs: number) {
  const state = { isCut: false, watches: true }
  const travel = async (): Promise<void> => {
    await sleep(clock, random.next() * mostDelayMs)
    if (state.isCut) await new Promise(() => {})
  }
  const client: Client = {
    raw: (request) => server.raw(request),
    resource: (type, namespace) => {
      const inner = server.resource(type, namespace)
      const passing =
        (verb: 'get' | 'create' | 'update') =>
        async (...args: [never, never]) => {
          await travel()
          try {
            return await (inner[verb] as (...given: unknown[]) => unknown)(...args)
          } finally {
            await travel()
          }
        }
      const verbs = {
        get: passing('get'),
        create: passing('create'),
        update: passing('update'),
        async watch(options: object) {
          await travel()
          if (!state.watches) throw statusError(403, 'Forbidden')
          return delayed((await inner.watch(options)) as AsyncIterable<WatchEvent>, travel)
        },
      }
      return verbs as unknown as ResourceClient<never>
    },
  }
  return { client, state, cut: () => void (state.isCut = true) }
}

async function* delayed(events: AsyncIterable<WatchEvent>, travel: () => Promise<void>) {
  for await (const event of events) {
    await travel()
    yield event
  }
}

interface Outcome {
  /** From the kill to the write of the next holder; Infinity: nobody came. */
  readonly failOverMs: number
  /** From the last write of the one that was killed. */
  readonly sinceRenewalMs: number
  /** Reads of the lease by the standbys, per standby and retry period. */
  readonly readsPerPeriod: number
}

/** Three contenders, one is killed at a moment of the seed's choosing. */
async function killLeader(
  seed: number,
  timing: typeof UPSTREAM,
  watching: readonly boolean[],
): Promise<Outcome> {
  const random = new SeededRandom(seed)
  const all = world()
  const { server, clock } = all
  const contenders = watching.map((watches, i) => {
    const wire = line(all, random.fork(`line ${i}`), timing.retryPeriodMs / 20)
    wire.state.watches = watches
    const { client } = wire
    const identity = `${seed}-${i}`
    return { wire, identity, ...all.elector({ identity, client, ...timing }) }
  })
  const writes: { readonly ms: number; readonly holder: string }[] = []
  server.onRequest = ({ verb, body }) => {
    if (verb !== 'update' && verb !== 'create') return
    writes.push({ ms: clock.monotonicMs(), holder: (body as Lease).spec?.holderIdentity ?? '' })
  }
  for (const { run } of contenders) {
    await run()
    await clock.advance(random.next() * timing.retryPeriodMs)
  }
  await clock.advance(jitter(random, timing.leaseDurationMs, 1))
  const leader = contenders.find(({ identity }) => identity === all.lease()?.spec?.holderIdentity)!
  const reads = server.requested('get').length
  const spanMs = clock.monotonicMs()
  leader.wire.cut()
  const killedMs = clock.monotonicMs()
  const holder = (): string | undefined => all.lease()?.spec?.holderIdentity
  const moved = await clock.advanceUntil(() => holder() !== leader.identity, 60_000)
  const taken = writes.findLast((write) => write.holder === holder())!
  const renewed = writes.findLast((write) => write.holder === leader.identity)!
  for (const { stop } of contenders) stop.abort()
  await clock.advance(0)
  return {
    failOverMs: moved ? taken.ms - killedMs : Infinity,
    sinceRenewalMs: taken.ms - renewed.ms,
    readsPerPeriod: reads / 2 / (spanMs / timing.retryPeriodMs),
  }
}

async function outcomes(
  timing: typeof UPSTREAM,
  watching: readonly boolean[],
  seeds = SEEDS,
): Promise<readonly Outcome[]> {
  const all: Outcome[] = []
  for (let seed = 0; seed < seeds; seed++) all.push(await killLeader(seed, timing, watching))
  return all
}

const longest = (all: readonly Outcome[]): number =>
  Math.max(...all.map(({ failOverMs }) => failOverMs))

for (const [title, timing] of [
  ['15 s, 10 s, 2 s', UPSTREAM],
  ['5 s, 3 s, 500 ms', SHORT],
] as const) {
  test(`Given a leader that is killed and a standby that may watch, then the lease has another holder within leaseDuration + retryPeriod: ${title}, ${SEEDS} seeds`, async () => {
    const all = await outcomes(timing, [true, true, true])
    const boundMs = timing.leaseDurationMs + timing.retryPeriodMs
    assert.ok(longest(all) <= boundMs, `${longest(all)} ms`)
    // Not before its lease has run out, which is counted from its last write.
    for (const { sinceRenewalMs } of all) assert.ok(sinceRenewalMs >= timing.leaseDurationMs)
    for (const { readsPerPeriod } of all) assert.ok(readsPerPeriod <= 1)
  })
}

test('one standby that may watch is enough, whoever else contends', async () => {
  const all = await outcomes(UPSTREAM, [false, true, false, true], 200)
  assert.ok(longest(all) <= 17_000, `${longest(all)} ms`)
})

test('without watches the last renewal is seen with the next poll: lease duration and 2.5 retry periods', async () => {
  const all = await outcomes(UPSTREAM, [false, false, false], 200)
  assert.ok(longest(all) <= 20_000, `${longest(all)} ms`)
  assert.ok(longest(all) > 17_000, 'or the watches are of no use')
  for (const { sinceRenewalMs } of all) assert.ok(sinceRenewalMs >= 15_000)
})

/** Every kind of fault, once, at a place of our choice: it happens there and nowhere else, and the end is the same. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FAULT_KINDS, playOnce, scenarios } from '@gyropilot/cluster'
import type { FaultKind, OneShot } from '@gyropilot/cluster'

const MANAGER = 'controller-manager-1'
const WORKLOAD = 'a Deployment rolls out a new template and back'
const READER = 'an owner with dependents of dependents is deleted with Foreground'

const SHOTS: Readonly<Record<FaultKind, readonly OneShot[]>> = {
  crash: [
    { stage: 'write', position: 12, fault: { kind: 'crash', when: 'before' } },
    { stage: 'write', position: 12, fault: { kind: 'crash', when: 'after' } },
  ],
  reset: [
    { stage: 'write', position: 12, fault: { kind: 'reset', applied: true } },
    { stage: 'write', position: 12, fault: { kind: 'reset', applied: false } },
  ],
  timeout: [
    { stage: 'write', position: 12, fault: { kind: 'timeout', applied: true, afterMs: 20_000 } },
    { stage: 'write', position: 12, fault: { kind: 'timeout', applied: false, afterMs: 20_000 } },
  ],
  refusal: ([409, 429, 500, 503] as const).map((code) => ({
    stage: 'write',
    position: 12,
    fault: { kind: 'refusal', code },
  })),
  stale: [{ stage: 'read', position: 2, fault: { kind: 'stale', behind: 2 } }],
  slow: [{ stage: 'write', position: 12, fault: { kind: 'delay', byMs: 15_000 } }],
  lag: [{ stage: 'event', position: 30, fault: { kind: 'delay', byMs: 15_000 } }],
  break: [{ stage: 'event', position: 30, fault: { kind: 'break' } }],
  gap: [{ stage: 'event', position: 30, fault: { kind: 'gap', forMs: 15_000 } }],
  repeat: [{ stage: 'event', position: 30, fault: { kind: 'repeat' } }],
  pause: [
    { stage: 'write', position: 12, fault: { kind: 'pause', process: MANAGER, forMs: 40_000 } },
    { stage: 'event', position: 30, fault: { kind: 'pause', process: MANAGER, forMs: 40_000 } },
  ],
  suspension: [
    {
      stage: 'write',
      position: 12,
      fault: { kind: 'suspension', process: MANAGER, forMs: 40_000 },
    },
    {
      stage: 'event',
      position: 30,
      fault: { kind: 'suspension', process: MANAGER, forMs: 40_000 },
    },
  ],
  kill: [
    { stage: 'event', position: 30, fault: { kind: 'kill', process: MANAGER, downMs: 5_000 } },
  ],
  partition: [
    { stage: 'write', position: 12, fault: { kind: 'partition', process: MANAGER, forMs: 30_000 } },
    {
      stage: 'write',
      position: 12,
      fault: { kind: 'partition', process: MANAGER, link: 'leader-election', forMs: 30_000 },
    },
  ],
  restart: [
    {
      stage: 'write',
      position: 12,
      fault: { kind: 'restart', downMs: 10_000, compacted: true },
    },
  ],
  compaction: [{ stage: 'write', position: 12, fault: { kind: 'compaction' } }],
  jump: [
    { stage: 'write', position: 12, fault: { kind: 'jump', process: MANAGER, byMs: -240_000 } },
    { stage: 'write', position: 12, fault: { kind: 'jump', process: MANAGER, byMs: 240_000 } },
  ],
  nodeloss: [
    {
      stage: 'write',
      position: 12,
      fault: { kind: 'nodeloss', process: 'node-1', downMs: 60_000 },
    },
  ],
}

for (const kind of FAULT_KINDS) {
  for (const [index, shot] of SHOTS[kind].entries()) {
    test(`${kind} ${index + 1}, ${shot.stage} ${shot.position}: once, and the end is the same`, async () => {
      const wanted = shot.stage === 'read' ? READER : WORKLOAD
      const scenario = { ...scenarios.find(({ name }) => name === wanted)!, managers: 2 }
      const { fault, faults, violations } = await playOnce(scenario, 'shots', shot, {
        quietMs: 60_000,
      })
      assert.deepEqual(violations, [])
      assert.equal(fault.fired, true)
      assert.ok(faults.has(kind), `it was noted as ${[...faults.keys()].join()}`)
    })
  }
}

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Node } from '@gyropilot/api'
import { testClock } from '@gyropilot/runtime/testing'
import { MachineSwitch } from './machine-switch.ts'

function nodeOf(text?: string): Node {
  const annotations = text === undefined ? undefined : { 'sim.kubelet/node': text }
  return { metadata: { name: 'n', creationTimestamp: '2026-01-01T00:00:00Z', annotations } }
}

/** What happened, in order. */
function watched(turnOn: () => Promise<void> = async () => {}) {
  const clock = testClock()
  const told: string[] = []
  const power = new MachineSwitch({
    clock,
    turnOn(life, wasOff) {
      life.addEventListener('abort', () => told.push('ended'))
      told.push(wasOff ? 'on again' : 'on')
      return turnOn()
    },
    turnOff: () => void told.push('off'),
    failed: (error) => void told.push(`failed: ${(error as Error).message}`),
    complain: (problem) => void told.push(problem),
  })
  return { clock, told, power }
}

test('a machine of which nothing is said is on, and stays so whatever else changes on the node', async () => {
  const { clock, told, power } = watched()
  power.read(nodeOf())
  await power.start()
  power.read({ ...nodeOf(), spec: { unschedulable: true } })
  await clock.advance(1_000_000)
  assert.deepEqual(told, ['on'])
})

test('stopped: true turns it off at once, and what takes it away turns it on', async () => {
  const { told, power } = watched()
  await power.start()
  power.read(nodeOf('stopped: true'))
  power.read(nodeOf('stopped: true'))
  power.read(nodeOf())
  assert.deepEqual(told, ['on', 'ended', 'off', 'on again'])
})

test('a machine that is off to begin with is not turned on before its time', async () => {
  const { clock, told, power } = watched()
  power.read(nodeOf('stopped: {until: 1m}'))
  assert.deepEqual(told, [])
  await power.start()
  await clock.advance(59_999)
  assert.deepEqual(told, [])
  await clock.advance(1)
  assert.deepEqual(told, ['on again'])
})

test('a schedule is followed to the millisecond, and another takes its place', async () => {
  const { clock, told, power } = watched()
  await power.start()
  power.read(nodeOf('stopped: [{from: 10s, until: 20s}, {from: 1m, until: 48h}]'))
  await clock.advance(9_999)
  assert.deepEqual(told.splice(0), ['on'])
  await clock.advance(1)
  assert.deepEqual(told.splice(0), ['ended', 'off'])
  await clock.advance(10_000)
  assert.deepEqual(told.splice(0), ['on again'])
  await clock.advance(47 * 3_600_000)
  assert.deepEqual(told.splice(0), ['ended', 'off'])
  await clock.advance(3_600_000)
  assert.deepEqual(told.splice(0), ['on again'])
  power.read(nodeOf('stopped: {from: 49h}'))
  power.read(nodeOf('stopped: {from: 50h}'))
  await clock.advance(3_600_000)
  assert.deepEqual(told, [])
})

test('a schedule that lies in the past changes nothing', async () => {
  const { clock, told, power } = watched()
  await clock.advance(60_000)
  power.read(nodeOf('stopped: {from: 10s, until: 20s}'))
  await power.start()
  await clock.advance(60_000)
  assert.deepEqual(told, ['on'])
})

test('what cannot be used is told once and turns nothing off', async () => {
  const { told, power } = watched()
  power.read(nodeOf('stopped: soon'))
  power.read(nodeOf('stopped: soon'))
  await power.start()
  const [problem, ...rest] = told
  assert.match(problem!, /is "soon" and not true/)
  assert.deepEqual(rest, ['on'])
})

test('a machine that does not come up is told, one that was turned off meanwhile is not', async () => {
  const failing = watched(() => Promise.reject(new Error('no')))
  await failing.power.start()
  assert.deepEqual(failing.told, ['on', 'failed: no'])
  const { promise, reject } = Promise.withResolvers<void>()
  const { told, power } = watched(() => promise)
  const started = power.start()
  power.read(nodeOf('stopped: true'))
  reject(new Error('no'))
  await started
  assert.deepEqual(told, ['on', 'ended', 'off'])
})

test('the end of the process stops it for good', async () => {
  const { clock, told, power } = watched()
  await power.start()
  power.read(nodeOf('stopped: {from: 10s, until: 20s}'))
  power.stop()
  power.read(nodeOf())
  await clock.advance(60_000)
  assert.deepEqual(told, ['on', 'ended', 'off'])
})

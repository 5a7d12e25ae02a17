import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PauseGate } from './pause-gate.ts'

const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))

test('many are inside at a time; a pause waits for them and holds up who comes later', async () => {
  const gate = new PauseGate()
  const log: string[] = []
  const leave = new Map<string, () => void>()
  const work = (name: string): Promise<void> =>
    gate.pass(async () => {
      log.push(`${name} in`)
      await new Promise<void>((done) => leave.set(name, done))
    })
  const [a, b] = [work('a'), work('b')]
  let end = (): void => {}
  const paused = gate.pauseFor(async () => {
    log.push('paused')
    await new Promise<void>((done) => (end = done))
  })
  const c = work('c')
  await turn()
  assert.deepEqual(log, ['a in', 'b in'])
  leave.get('a')!()
  await turn()
  assert.deepEqual(log, ['a in', 'b in'])
  leave.get('b')!()
  await Promise.all([a, b])
  await turn()
  assert.deepEqual(log, ['a in', 'b in', 'paused'])
  end()
  await paused
  await turn()
  assert.deepEqual(log, ['a in', 'b in', 'paused', 'c in'])
  leave.get('c')!()
  await c
})

test('work and changes that fail leave the gate as it was', async () => {
  const gate = new PauseGate()
  const fail = async (): Promise<never> => {
    throw new Error('no')
  }
  await assert.rejects(gate.pass(fail))
  await assert.rejects(gate.pauseFor(fail))
  assert.equal(await gate.pauseFor(async () => 'paused'), 'paused')
  assert.equal(await gate.pass(async () => 'passed'), 'passed')
})

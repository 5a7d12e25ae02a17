/**
 * A Job counts no pod twice, though the pods that its controller starts from are of a time when it had them still to count. A
 * manager asks for the latest; this is for informers of whoever takes the controller into a program of his own.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { playOnce, scenarios } from '@gyropilot/cluster'
import type { OneShot } from '@gyropilot/cluster'

const SEED = 'old lists'
const REST = { quietMs: 120_000 }
const STORIES = ['a Job of three runs two at a time', 'an indexed Job whose pods fail']

for (const story of STORIES) {
  test(`${story}: a crash after any write, then a list from before what was written before it`, async () => {
    const scenario = scenarios.find(({ name }) => name.startsWith(story))!
    const { fault } = await playOnce(scenario, SEED, undefined, REST)
    const wrong: string[] = []
    let oldLists = 0
    for (let position = 0; position < fault.counts.write; position++) {
      const shot: OneShot = {
        stage: 'write',
        position,
        fault: { kind: 'crash', when: 'after' },
        thenOldList: true,
      }
      const { violations, faults } = await playOnce(scenario, SEED, shot, REST)
      oldLists += faults.get('stale') ?? 0
      wrong.push(...violations.map(({ checker, message }) => `${position} ${checker}: ${message}`))
    }
    assert.deepEqual(wrong, [])
    // The story is over with the last two, before a next life lists anything.
    assert.equal(oldLists, fault.counts.write - 2)
  })
}
